import Testing
import Transport
import Wire

/// An HTTP/2 frame, byte by byte.
struct Frame: Equatable, CustomTestStringConvertible {
  static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  var type: UInt8
  var flags: UInt8 = 0
  var stream: UInt32
  var body: [UInt8] = []

  static func data(_ stream: UInt32, _ body: [UInt8], isLast: Bool = false) -> Frame {
    Frame(type: 0, flags: isLast ? 1 : 0, stream: stream, body: body)
  }
  static func message(_ stream: UInt32, _ message: XPCMessage) -> Frame { data(stream, message.bytes) }
  static func headers(_ stream: UInt32) -> Frame { Frame(type: 1, flags: 4, stream: stream) }
  static func reset(_ stream: UInt32, code: UInt32) -> Frame { Frame(type: 3, stream: stream, body: big(code)) }
  static func goAway(code: UInt32) -> Frame { Frame(type: 7, stream: 0, body: big(3) + big(code)) }
  static func window(_ stream: UInt32, _ bytes: UInt32) -> Frame { Frame(type: 8, stream: stream, body: big(bytes)) }
  static let acknowledgement = Frame(type: 4, flags: 1, stream: 0)

  static func settings(_ values: (UInt16, UInt32)...) -> Frame {
    Frame(
      type: 4, stream: 0,
      body: values.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xFF)] + big($0.1) })
  }

  static func big(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }

  var bytes: [UInt8] { Array(Self.big(UInt32(body.count)).dropFirst()) + [type, flags] + Self.big(stream) + body }
  var testDescription: String { "type \(type) flags \(flags) stream \(stream), \(body.count) bytes" }
}

/// A peer of which every byte is written by the test.
struct RawPeer {
  let stream: Socket
  static var soon: Deadline { .after(.seconds(5)) }

  func send(_ frames: Frame...) throws {
    try stream.write(frames.flatMap(\.bytes), by: Self.soon)
  }

  func readFrame() throws -> Frame {
    let header = try stream.read(exactly: 9, by: Self.soon)
    let size = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
    let stream = header[5...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return Frame(
      type: header[3], flags: header[4], stream: stream, body: try self.stream.read(exactly: size, by: Self.soon))
  }

  func readPreface() throws { #expect(try stream.read(exactly: 24, by: Self.soon) == Frame.preface) }

  /// Frames until the one that meets the condition.
  func readFrames(until condition: (Frame) -> Bool) throws -> [Frame] {
    var frames: [Frame] = []
    repeat { frames.append(try readFrame()) } while frames.last.map(condition) == false
    return frames
  }

  /// What a phone says first.
  func greet() throws { try send(.settings((3, 100), (4, 1 << 20)), .window(0, 983_041)) }
}

extension XPCMessage {
  static var hello: XPCMessage { XPCMessage(.always, id: 0, body: .dictionary([:])) }
  static let version = XPCMessage(.opening, id: 0)
  static let replies = XPCMessage([.always, .initHandshake], id: 0)
}

/// Runs the body on a thread of its own and gives its result.
func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) -> Pending<T> { Pending(body) }

final class Pending<T: Sendable>: Sendable {
  private let result = Guarded<Result<T, any Error>?>(nil)
  private let done = Latch()

  init(_ body: @escaping @Sendable () throws -> T) {
    let (result, done) = (result, done)
    _ = Worker(name: "pending") {
      let outcome = Result { try body() }
      result.with { $0 = outcome }
      done.open()
    }
  }

  func get() throws -> T {
    #expect(done.wait(until: .after(.seconds(20))))
    return try #require(result.with { $0 }).get()
  }
}
