import FoundationEssentials
import Glibc
import Testing
import Transport
import Wire

@testable import VirtualPhone

/// A fleet for one test, in a folder of its own; ends with its last reference.
final class TestFleet: Sendable {
  let fleet: VirtualFleet
  let folder: String

  init(
    phones: Int = 1, ios: [String] = ["17.6"], tcp: Bool = false, trusted: Bool = true,
    manners: MuxManners = .plain, scale: Double = 1
  ) throws {
    _ = QuietPipes.areSet
    var template = Array("\(FileManager.default.temporaryDirectory.path)/phones-XXXXXX".utf8CString)
    let made = try #require(mkdtemp(&template).map { String(cString: $0) })
    folder = made
    var options = VirtualFleet.Options(
      address: tcp ? .tcp(host: "127.0.0.1", port: 0) : .unix(path: "\(made)/mux"))
    options.phones = phones
    options.ios = ios
    options.control = "\(made)/control"
    options.trusted = trusted
    options.manners = manners
    options.timeScale = scale
    do {
      fleet = try VirtualFleet(options)
    } catch {
      rmdir(made)
      throw error
    }
  }

  deinit {
    fleet.stop()
    rmdir(folder)
  }

  var first: VirtualPhone { fleet.phones[0] }

  func mux() throws -> MuxHost { try MuxHost(fleet.address) }

  /// The journal's entries of one kind, as `request` names.
  func requests(_ event: String) -> [String] {
    fleet.journal.entries().filter { $0.event == event }.compactMap { $0.details["request"]?.string }
  }

  /// A connection to the phone's lockdownd, through the mux.
  func lockdown(_ phone: VirtualPhone? = nil) throws -> LockdownHost {
    let phone = phone ?? first
    let id = phone.state.with { Int64($0.deviceID) }
    return LockdownHost(try mux().connected(id, port: LockdownServer.port), keeping: self)
  }

  /// The pair record that the mux holds for the phone.
  func record(_ phone: VirtualPhone? = nil) throws -> Plist {
    let id = (phone ?? first).udid.description
    let answer = try mux().ask(["MessageType": "ReadPairRecord", "PairRecordID": .string(id)])
    return try Plist(parsing: try #require(answer["PairRecordData"]?.bytes))
  }

  /// A session of the trusted host.
  func session(_ phone: VirtualPhone? = nil) throws -> LockdownHost {
    let host = try lockdown(phone)
    try host.startSession(try record(phone))
    return host
  }
}

/// How long a test waits for what comes at once.
let soon = Duration.seconds(20)

/// The host's end of a mux connection.
final class MuxHost: Sendable {
  let socket: Socket

  init(_ address: SocketAddress) throws { socket = try Socket.connect(to: address, by: .after(soon)) }

  func send(_ plist: Plist, tag: UInt32 = 7) throws {
    try socket.write(MuxFrame(plist, tag: tag).bytes, by: .after(soon))
  }

  /// The next message; its length alone decides where it ends.
  func receive() throws -> MuxFrame {
    let header = try socket.read(exactly: MuxFrame.headerSize, by: .after(soon))
    var (frame, size) = try MuxFrame.header(header, limit: 1 << 24)
    frame.payload = try socket.read(exactly: size, by: .after(soon))
    return frame
  }

  func receivePlist() throws -> Plist { try Plist(parsing: try receive().payload) }

  func ask(_ plist: Plist) throws -> Plist {
    try send(plist)
    return try receivePlist()
  }

  /// A Result's number.
  func result(_ plist: Plist) throws -> Int? { try ask(plist)["Number"]?.int }

  /// Whether the far end has ended the connection.
  func isEnded() throws -> Bool {
    do {
      return try socket.read(max: 1, by: .after(soon)).isEmpty
    } catch StreamError.closed {
      return true
    }
  }

  /// Turns the connection into a device port's stream.
  func connected(_ id: Int64, port: UInt16) throws -> Socket {
    let number = try result(Self.connect(id, port: port))
    try #require(number == 0)
    return socket
  }

  static func connect(_ id: Int64, port: UInt16) -> Plist {
    ["MessageType": "Connect", "DeviceID": .integer(id), "PortNumber": .integer(Int64(port.byteSwapped))]
  }
}

/// The host's end of a lockdown connection.
final class LockdownHost {
  let socket: Socket
  private(set) var stream: any ByteStream
  /// The fleet, which ends with its last reference.
  private let fleet: TestFleet?

  init(_ socket: Socket, keeping fleet: TestFleet? = nil) {
    self.socket = socket
    self.fleet = fleet
    stream = socket
  }

  func send(_ request: String, _ more: [String: Plist] = [:]) throws {
    var body = more
    body["Request"] = .string(request)
    body["Label"] = "test"
    try stream.write(ServiceFrame.bytes(Plist.dictionary(body).xml), by: .after(soon))
  }

  func receiveBytes() throws -> [UInt8] {
    let header = try stream.read(exactly: ServiceFrame.headerSize, by: .after(soon))
    return try stream.read(exactly: try ServiceFrame.payloadSize(header, limit: 1 << 24), by: .after(soon))
  }

  func ask(_ request: String, _ more: [String: Plist] = [:]) throws -> Plist {
    try send(request, more)
    return try Plist(parsing: try receiveBytes())
  }

  func error(_ request: String, _ more: [String: Plist] = [:]) throws -> String? {
    try ask(request, more)["Error"]?.string
  }

  func value(_ key: String, domain: String? = nil) throws -> Plist? {
    var more: [String: Plist] = ["Key": .string(key)]
    if let domain { more["Domain"] = .string(domain) }
    return try ask("GetValue", more)["Value"]
  }

  /// - Parameter certificate: what the host presents: `Root` as libimobiledevice, `Host` as others.
  @discardableResult
  func startSession(
    _ record: Plist, certificate: String = "Root", newest: TLSContext.Version = .tls13
  ) throws -> String {
    let answer = try ask(
      "StartSession", ["HostID": record["HostID"] ?? "", "SystemBUID": record["SystemBUID"] ?? ""])
    try #require(answer["EnableSessionSSL"] == true)
    let id = try #require(answer["SessionID"]?.string)
    try startTLS(record, certificate: certificate, newest: newest)
    return id
  }

  func startTLS(
    _ record: Plist, certificate: String = "Root", newest: TLSContext.Version = .tls13, by deadline: Deadline? = nil
  ) throws {
    let context = try TLSContext.client(
      certificatePEM: try #require(record["\(certificate)Certificate"]?.bytes),
      keyPEM: try #require(record["\(certificate)PrivateKey"]?.bytes), newest: newest)
    stream = try TLSStream.connect(on: socket, context, by: deadline ?? .after(soon))
  }

  /// Goes on in clear on the same socket.
  func endTLS() { stream = socket }

  func isEnded() -> Bool {
    do {
      return try stream.read(max: 1, by: .after(soon)).isEmpty
    } catch {
      return error != .timedOut
    }
  }
}

/// Runs what blocks on a thread of its own, so that the tests' few threads stay free.
func onWorker<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    _ = Worker(name: "test") { continuation.resume(with: Result { try body() }) }
  }
}
