import Testing
import Transport
import Wire

@testable import VirtualPhone

/// A host that speaks gdb's remote protocol.
final class DebugClient {
  let service: ServiceClient
  private var decoder = GDBPacket.Decoder()
  private var items: [GDBPacket.Item] = []

  init(_ phone: TestPhone, _ name: String = "com.apple.debugserver.DVTSecureSocketProxy") throws {
    service = try phone.service(name)
  }

  func send(_ packet: String) throws { try service.socket.write(GDBPacket.encode(packet), by: .after(.seconds(5))) }
  func send(raw bytes: [UInt8]) throws { try service.socket.write(bytes, by: .after(.seconds(5))) }

  /// What comes next; nil at the end of the connection.
  func next(by deadline: Deadline = .after(.seconds(10))) throws -> GDBPacket.Item? {
    while items.isEmpty {
      let bytes = try service.socket.read(max: 1 << 12, by: deadline)
      if bytes.isEmpty { return nil }
      items += try decoder.feed(bytes)
    }
    return items.removeFirst()
  }

  /// The next packet, acknowledgements aside.
  func packet(by deadline: Deadline = .after(.seconds(10))) throws -> String? {
    while let item = try next(by: deadline) {
      if case .packet(let bytes) = item { return String(decoding: bytes, as: UTF8.self) }
    }
    return nil
  }

  func ask(_ packet: String) throws -> String? {
    try send(packet)
    return try self.packet()
  }

  static func hex(_ text: String) -> String { Hex.encode(text.utf8) }

  /// `A` with these arguments.
  static func launch(_ arguments: [String]) -> String {
    "A" + arguments.enumerated().map { "\(hex($1).utf8.count),\($0),\(hex($1))" }.joined(separator: ",")
  }
}
