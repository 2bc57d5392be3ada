import Transport
import Wire

/// One service of the phone: what answers behind a name that lockdown's StartService knows.
protocol DeviceService: Sendable {
  /// All names under which it is started; some services kept an old one.
  var names: [String] { get }
  var needs: ServiceNeeds { get }
  /// Serves one connection to its end, on that connection's own thread. Returning closes the connection.
  func serve(_ connection: ServiceConnection)
}

/// What must hold before lockdown starts a service; otherwise it answers InvalidService or SessionInactive.
struct ServiceNeeds: Sendable {
  var session = true
  /// Only with the developer image mounted.
  var developerImage = false
  /// The first version that has it; nil: every one.
  var since: (major: Int, minor: Int)?
  /// Developer services left classic lockdown with this major version; nil for those that stayed.
  var goneSince: Int?
  /// The plain debugserver name goes on in clear text after its TLS handshake.
  var clearAfterHandshake = false
}

/// One connection of the host to a service, after TLS where the phone asks for it.
struct ServiceConnection: Sendable {
  let phone: VirtualPhone
  /// The name it was started under.
  let service: String
  let stream: any ByteStream
}

extension ServiceConnection {
  /// Longest message that a service takes.
  static let messageLimit = 16 << 20

  /// The next property list, or nil when the host has gone or talks nonsense.
  func receive(by deadline: Deadline = .never) -> Plist? {
    do {
      let header = try stream.read(exactly: ServiceFrame.headerSize, by: deadline)
      let size = try ServiceFrame.payloadSize(header, limit: Self.messageLimit)
      return try Plist(parsing: stream.read(exactly: size, by: deadline))
    } catch {
      return nil
    }
  }

  /// - Returns: false when the host has gone.
  @discardableResult
  func send(_ plist: Plist, binary: Bool = false) -> Bool {
    send(ServiceFrame.bytes(binary ? plist.binary : plist.xml))
  }

  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    do {
      try stream.write(bytes, by: .after(.seconds(30)))
      return true
    } catch {
      return false
    }
  }
}
