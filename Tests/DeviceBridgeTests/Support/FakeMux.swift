import DeviceBridge
import Transport
import VirtualPhone
import Wire

/// A mux that answers as the test says: for daemons that no virtual fleet would play.
final class FakeMux: Sendable {
  let address: MuxAddress
  private let folder: Folder
  private let listener: Listener
  private let open = Guarded<[Socket]>([])

  /// - Parameter serve: one connection, on a thread of its own; returning closes it.
  init(backlog: Int32 = 256, _ serve: @escaping @Sendable (Socket) -> Void) throws {
    folder = try Folder()
    let listener = try Listener(.unix(path: "\(folder.path)/mux"), backlog: backlog)
    self.listener = listener
    address = .unix(path: "\(folder.path)/mux")
    _ = Worker(name: "fake mux") { [open] in
      while let socket = listener.accept() {
        open.with { $0.append(socket) }
        _ = Worker(name: "fake mux call") {
          serve(socket)
          socket.close()
        }
      }
    }
  }

  deinit { stop() }

  func stop() {
    listener.close()
    for socket in open.with({ $0 }) { socket.shutdown() }
  }

  /// One request off the connection; nil at its end.
  static func request(on socket: Socket) -> Plist? {
    guard let header = try? socket.read(exactly: MuxFrame.headerSize, by: .patient),
      let (_, size) = try? MuxFrame.header(header, limit: 1 << 20),
      let payload = try? socket.read(exactly: size, by: .patient)
    else { return nil }
    return try? Plist(parsing: payload)
  }

  static func send(_ plist: Plist, on socket: Socket, tag: UInt32 = 1) {
    try? socket.write(MuxFrame(plist, tag: tag).bytes, by: .patient)
  }

  static func result(_ number: Int64) -> Plist { ["MessageType": "Result", "Number": .integer(number)] }

  static func entry(_ id: Int64, _ serial: String, _ link: String = "USB") -> Plist {
    [
      "MessageType": "Attached", "DeviceID": .integer(id),
      "Properties": ["DeviceID": .integer(id), "ConnectionType": .string(link), "SerialNumber": .string(serial)],
    ]
  }

  /// Answers each request with the reply given for its type, and keeps the connection.
  static func answering(_ replies: [String: Plist]) throws -> FakeMux {
    try FakeMux { socket in
      while let request = request(on: socket) {
        send(replies[request["MessageType"]?.string ?? ""] ?? result(1), on: socket)
      }
    }
  }
}
