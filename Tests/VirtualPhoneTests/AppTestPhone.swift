import Testing
import Transport
import Wire

@testable import VirtualPhone

/// Phone time that goes on only when a test says so.
final class ManualPhoneClock: PhoneClock {
  private struct State {
    var now: Duration = .zero
    var sleepers: [Int: Duration] = [:]
    var last = 0
  }

  private let state = Guarded(State())

  var now: Duration { state.with { $0.now } }

  func wait(until moment: Duration, unless latch: Latch) -> Bool {
    let id = state.with {
      $0.last += 1
      $0.sleepers[$0.last] = moment
      return $0.last
    }
    defer { state.with { $0.sleepers[id] = nil } }
    while now < moment {
      // A latch tells nobody that it opened, so it is asked at short intervals of the host's time.
      if latch.wait(until: .after(.milliseconds(1))) { return false }
    }
    return !latch.wait(until: .after(.zero))
  }

  /// A socket knows nothing of a test's time: such waits never end by themselves.
  func deadline(after span: Duration) -> Deadline { .never }

  var hasSleepers: Bool { state.with { !$0.sleepers.isEmpty } }

  func advance(by span: Duration) { state.with { $0.now += span } }

  /// Waits until somebody sleeps up to that moment of phone time.
  func awaitSleeper(until moment: Duration) -> Bool {
    holds { self.state.with { $0.sleepers.values.contains(moment) } }
  }
}

/// Waits, by a deadline, until something is so.
func holds(within limit: Duration = .seconds(30), _ condition: () -> Bool) -> Bool {
  let deadline = Deadline.after(limit)
  let never = Latch()
  while !condition() {
    if deadline.hasPassed { return false }
    _ = never.wait(until: .after(.milliseconds(1)))
  }
  return true
}

/// A virtual phone on a manual clock, reached as the mux would reach it.
final class TestPhone: Sendable {
  let clock = ManualPhoneClock()
  let journal: Journal
  let phone: VirtualPhone
  var app: KioskApp { phone.app }

  init(ios: String = "16.7", token: String? = nil, runs: Bool = true) throws {
    _ = QuietPipes.areSet
    let preset = try #require(PhonePreset.named(ios))
    journal = Journal(clock: clock)
    var settings = KioskApp.Settings(token: token)
    settings.startsInFront = runs
    phone = VirtualPhone(
      identity: PhoneIdentity(index: 0, preset: preset), preset: preset, clock: clock, journal: journal, app: settings)
    phone.bus.attach(phone)
  }

  deinit {
    phone.bus.detach(phone)
    phone.end()
  }

  /// Does an action as the control socket would.
  func perform(_ action: String, _ values: [String: String] = [:]) throws {
    try FleetDesk(phones: [phone], journal: journal).perform(action, on: "1", values)
  }

  /// A connection to a device port; nil when nothing listens there.
  func connect(_ port: UInt16 = 8127) throws -> Socket? {
    guard let server = phone.ports.server(port) else { return nil }
    let (host, device) = try Socket.pair()
    let ports = phone.ports
    _ = Worker(name: "test device") { ports.serve(device, with: server) }
    return host
  }

  /// A connection to a service, served on its own thread.
  func service(_ name: String) throws -> ServiceClient {
    let service = try #require(DeviceServices.all.first { $0.names.contains(name) })
    let (host, device) = try Socket.pair()
    let phone = phone
    let worker = Worker(name: "test service") {
      service.serve(ServiceConnection(phone: phone, service: name, stream: device))
      device.close()
    }
    return ServiceClient(socket: host, worker: worker)
  }

  /// The journal's entries of that event.
  func events(_ event: String) -> [JournalEntry] { journal.entries().filter { $0.event == event } }
}

/// The host's end of a connection to a service.
struct ServiceClient {
  let socket: Socket
  let worker: Worker

  func send(_ plist: Plist) throws { try socket.write(ServiceFrame.bytes(plist.xml), by: .after(.seconds(10))) }

  /// - Returns: nil when the phone has closed the connection.
  func receive() throws -> Plist? {
    guard let header = try? socket.read(exactly: 4, by: .after(.seconds(10))) else { return nil }
    let size = try ServiceFrame.payloadSize(header, limit: 1 << 20)
    return try Plist(parsing: socket.read(exactly: size, by: .after(.seconds(10))))
  }

  func ask(_ plist: Plist) throws -> Plist? {
    try send(plist)
    return try receive()
  }

  /// Whether the phone ends the connection by itself.
  func ends() -> Bool {
    let last = try? socket.read(max: 1, by: .after(.seconds(10)))
    return last?.isEmpty ?? true && worker.join(by: .after(.seconds(10)))
  }
}
