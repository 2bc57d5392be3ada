import Testing
import Transport
import Wire

@testable import VirtualPhone

/// A service that sends back what it gets, under whatever needs a test gives it.
struct Echo: DeviceService {
  var names = ["com.example.echo", "com.example.old-echo"]
  var needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    while let plist = connection.receive() { connection.send(["Service": .string(connection.service), "Got": plist]) }
  }
}

/// One phone without a mux: connections are pairs of sockets.
final class LonePhone {
  let phone: VirtualPhone
  let server: LockdownServer
  private let record: Plist

  init(
    ios: String = "16.7", needs: ServiceNeeds = ServiceNeeds(), clock: any PhoneClock = ScaledClock()
  ) throws {
    _ = QuietPipes.areSet
    let preset = try #require(PhonePreset.named(ios))
    phone = VirtualPhone(
      identity: PhoneIdentity(index: 0, preset: preset), preset: preset, clock: clock, journal: Journal(clock: clock))
    let keys = try FleetKeys.shared.get()
    server = LockdownServer(
      phone: phone, keys: keys, contexts: TLSContexts(keys: keys), catalogue: [Echo(needs: needs)], idleFloor: .zero)
    phone.connect(server)
    server.start()
    server.trustFleetHost()
    record = try Plist(parsing: try phone.bus.records.read(phone.udid.description))
  }

  deinit { phone.end() }

  /// - Returns: nil when nothing listens on the port.
  func dial(_ port: UInt16) throws -> LockdownHost? {
    guard let serve = phone.ports.server(port) else { return nil }
    let (near, far) = try Socket.pair()
    let ports = phone.ports
    _ = Worker(name: "device") { ports.serve(far, with: serve) }
    return LockdownHost(near)
  }

  func lockdown() throws -> LockdownHost { try #require(try dial(LockdownServer.port)) }

  func session() throws -> LockdownHost {
    let host = try lockdown()
    try host.startSession(record)
    return host
  }

  /// Connects to a started service, with TLS where the phone asked for it.
  func open(_ answer: Plist, certificate: String = "Root") throws -> LockdownHost {
    let port = try #require(answer["Port"]?.int.flatMap { UInt16(exactly: $0) })
    let host = try #require(try dial(port))
    if answer["EnableServiceSSL"] == true { try host.startTLS(record, certificate: certificate) }
    return host
  }
}

extension LockdownHost {
  func echo(_ plist: Plist) throws -> Plist {
    try stream.write(ServiceFrame.bytes(plist.xml), by: .after(soon))
    return try Plist(parsing: try receiveBytes())
  }
}
