import Testing
import Transport
import Wire

@testable import VirtualPhone

/// A host that speaks AFC, with its own idea of the framing.
final class AFCClient {
  struct Packet: Equatable {
    let number: UInt64
    let operation: UInt64
    /// Between the header and the payload.
    let data: [UInt8]
    let payload: [UInt8]
  }

  let service: ServiceClient
  private var number: UInt64 = 0

  init(_ service: ServiceClient) { self.service = service }

  convenience init(_ phone: TestPhone, _ name: String = "com.apple.afc") throws {
    self.init(try phone.service(name))
  }

  /// The container of an app, after house_arrest's one command.
  convenience init(_ phone: TestPhone, container bundle: String, _ command: String = "VendContainer") throws {
    let service = try phone.service("com.apple.mobile.house_arrest")
    let answer = try service.ask(["Command": .string(command), "Identifier": .string(bundle)])
    try #require(answer == ["Status": "Complete"])
    self.init(service)
  }

  static func little(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }
  static func text(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

  static func packet(_ operation: UInt64, number: UInt64 = 1, data: [UInt8] = [], payload: [UInt8] = []) -> [UInt8] {
    let this = UInt64(40 + data.count)
    return Array("CFA6LPAA".utf8) + little(this + UInt64(payload.count)) + little(this) + little(number)
      + little(operation) + data + payload
  }

  func send(raw bytes: [UInt8]) throws { try service.socket.write(bytes, by: .after(.seconds(20))) }

  func receive() throws -> Packet {
    let header = try service.socket.read(exactly: 40, by: .after(.seconds(20)))
    try #require(header.prefix(8).elementsEqual("CFA6LPAA".utf8))
    func word(_ at: Int) -> UInt64 { header[at..<(at + 8)].reversed().reduce(0) { $0 << 8 | UInt64($1) } }
    let rest = try service.socket.read(exactly: Int(word(8)) - 40, by: .after(.seconds(20)))
    let split = Int(word(16)) - 40
    return Packet(
      number: word(24), operation: word(32), data: Array(rest.prefix(split)), payload: Array(rest.dropFirst(split)))
  }

  func ask(_ operation: UInt64, _ data: [UInt8] = [], payload: [UInt8] = []) throws -> Packet {
    number += 1
    try send(raw: Self.packet(operation, number: number, data: data, payload: payload))
    let answer = try receive()
    #expect(answer.number == number)
    return answer
  }

  /// The status code of a request that is answered by nothing else.
  func status(_ operation: UInt64, _ data: [UInt8] = [], payload: [UInt8] = []) throws -> UInt64 {
    let answer = try ask(operation, data, payload: payload)
    try #require(answer.operation == 1)
    // 48 bytes both ways: a bare header is taken for an error.
    #expect(answer.data.count == 8)
    #expect(answer.payload.isEmpty)
    return answer.data.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// NUL-separated texts with NUL at the end; nil when the answer is a status.
  func texts(_ operation: UInt64, _ data: [UInt8] = []) throws -> [String]? {
    let answer = try ask(operation, data)
    guard answer.operation == 2 else { return nil }
    #expect(answer.data.isEmpty)
    #expect(answer.payload.last == 0)
    return answer.payload.dropLast().split(separator: 0, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  func names(_ path: String) throws -> [String]? { try texts(3, Self.text(path)) }

  func facts(_ path: String) throws -> [String: String]? {
    guard let texts = try texts(0x0A, Self.text(path)) else { return nil }
    let keys = stride(from: 0, to: texts.count - 1, by: 2).map { (texts[$0], texts[$0 + 1]) }
    return Dictionary(keys, uniquingKeysWith: { _, last in last })
  }

  /// A handle; nil when the answer is a status.
  func open(_ path: String, _ mode: UInt64 = 1) throws -> UInt64? {
    let answer = try ask(0x0D, Self.little(mode) + Self.text(path))
    guard answer.operation == 0x0E else { return nil }
    #expect(answer.payload.isEmpty)
    return answer.data.reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  func read(_ handle: UInt64, _ count: UInt64) throws -> [UInt8]? {
    let answer = try ask(0x0F, Self.little(handle) + Self.little(count))
    guard answer.operation == 2 else { return nil }
    #expect(answer.data.isEmpty)
    return answer.payload
  }

  func write(_ handle: UInt64, _ bytes: [UInt8]) throws -> UInt64 {
    try status(0x10, Self.little(handle), payload: bytes)
  }

  func seek(_ handle: UInt64, _ whence: UInt64, _ offset: Int64) throws -> UInt64 {
    try status(0x11, Self.little(handle) + Self.little(whence) + Self.little(offset))
  }

  func close(_ handle: UInt64) throws -> UInt64 { try status(0x14, Self.little(handle)) }

  /// A whole file, up and down.
  func put(_ path: String, _ bytes: [UInt8]) throws {
    let handle = try #require(try open(path, 3))
    #expect(try write(handle, bytes) == 0)
    #expect(try close(handle) == 0)
  }

  func get(_ path: String) throws -> [UInt8]? {
    guard let handle = try open(path) else { return nil }
    var bytes: [UInt8] = []
    while let part = try read(handle, 1 << 16), !part.isEmpty { bytes += part }
    #expect(try close(handle) == 0)
    return bytes
  }
}
