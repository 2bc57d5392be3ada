import Glibc
import Testing
import Transport
import Wire

@Suite struct `a RemoteXPC server` {
  let peer: RawPeer
  let near: Socket

  init() throws {
    let (near, far) = try Socket.pair()
    self.near = near
    peer = RawPeer(stream: far)
  }

  static let orders: [(String, [Frame])] = [
    ("a host that names versions first", [.message(1, .version), .message(3, .replies)]),
    ("a host that opens replies first", [.message(3, .replies), .message(1, .version)]),
  ]

  @Test(arguments: orders)
  func `answers the opening in both orders`(host: String, last: [Frame]) throws {
    let near = near
    let accepting = onThread { try RemoteXPCConnection.accept(on: near, by: RawPeer.soon) }

    try peer.stream.write(Frame.preface, by: RawPeer.soon)
    try peer.send(.settings((3, 100), (4, 16 << 20)), .window(0, 16_711_681), .headers(1), .message(1, .hello))
    #expect(try peer.readFrame() == .settings((3, 100), (4, 1 << 20)), "settings come first")
    let first = try peer.readFrames { $0 == .message(1, .hello) }
    try peer.send(.headers(3))
    for frame in last { try peer.send(frame) }
    var rest: [Frame] = []
    while rest.count < 3 { rest.append(try peer.readFrame()) }
    let server = try accepting.get()

    #expect(first.contains(.acknowledgement) && first.contains(.window(0, 983_041)))
    #expect(first.suffix(2) == [.headers(1), .message(1, .hello)])
    #expect(rest.contains(.headers(3)))
    #expect(rest.filter { $0.type == 0 } == last)
    #expect(server.isOpen)
  }

  @Test func `waits for nobody longer than its deadline`() throws {
    try peer.stream.write(Array(Frame.preface.prefix(20)), by: RawPeer.soon)

    #expect(throws: RemoteXPCError.timedOut) {
      try RemoteXPCConnection.accept(on: near, by: .after(.milliseconds(20)))
    }
  }

  @Test func `takes no file streams, which hosts open with even numbers: nghttp2 refuses them`() throws {
    let near = near
    let serving = onThread {
      let server = try RemoteXPCConnection.accept(on: near, by: RawPeer.soon)
      _ = try server.receive(by: RawPeer.soon)
    }
    try peer.stream.write(Frame.preface, by: RawPeer.soon)
    try peer.send(
      .settings(), .headers(1), .message(1, .hello), .headers(3), .message(1, .version), .message(3, .replies))

    try peer.send(.headers(2))

    #expect(throws: RemoteXPCError.http2("request HEADERS: invalid stream_id")) { try serving.get() }
    #expect(try peer.readFrames { $0.type == 7 }.last?.body.prefix(8).map { $0 } == Frame.big(3) + Frame.big(1))
  }

  @Test func `refuses what does not begin as HTTP/2`() throws {
    try peer.stream.write(Array("GET / HTTP/1.1\r\nHost: phone\r\n\r\n".utf8), by: RawPeer.soon)

    #expect(throws: RemoteXPCError.self) { try RemoteXPCConnection.accept(on: near, by: RawPeer.soon) }
  }
}

/// Both roles of ours, joined.
@Suite struct `RemoteXPC between two ends` {
  private func pair(window: UInt32 = RemoteXPCConnection.defaultWindow) throws -> (
    RemoteXPCConnection, RemoteXPCConnection
  ) {
    let (near, far) = try Socket.pair()
    let accepting = onThread { try RemoteXPCConnection.accept(on: far, by: RawPeer.soon) }
    let client = try RemoteXPCConnection.open(on: near, window: window, by: RawPeer.soon)
    return (client, try accepting.get())
  }

  @Test func `brings requests, replies and pushes to where they belong`() throws {
    let (client, server) = try pair()
    let serving = onThread {
      try server.send(["hello": true], by: RawPeer.soon)
      while let request = try server.receive(by: RawPeer.soon) {
        #expect(request.flags.contains(.wantsReply) == (request.body != "push"))
        if request.flags.contains(.wantsReply) {
          try server.reply(["echo": request.body ?? .null], to: request, by: RawPeer.soon)
        }
      }
    }

    try client.send("push", by: RawPeer.soon)
    #expect(try client.request("one", by: RawPeer.soon).body?["echo"] == "one")
    #expect(try client.request("two", by: RawPeer.soon).body?["echo"] == "two")
    #expect(try client.receive(by: RawPeer.soon)?.body == ["hello": true])
    client.close()

    try serving.get()
  }

  @Test func `carries pictures that are larger than every window`() throws {
    let (client, server) = try pair(window: 100_000)
    let picture = (0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 9) }
    let serving = onThread {
      let request = try #require(try server.receive(by: .after(.seconds(20))))
      try server.reply(request.body ?? .null, to: request, by: .after(.seconds(20)))
    }

    let reply = try client.request(.data(picture), by: .after(.seconds(20)))

    try serving.get()
    #expect(reply.body?.bytes == picture)
  }

  @Test func `lets one thread push while another waits for requests`() throws {
    let (client, server) = try pair()
    let waiting = onThread { try server.receive(by: RawPeer.soon) }

    for number in Int64(0)..<20 { try server.send(.int64(number), by: RawPeer.soon) }
    for number in Int64(0)..<20 { #expect(try client.receive(by: RawPeer.soon)?.body == .int64(number)) }
    try client.send("enough", by: RawPeer.soon)

    #expect(try waiting.get()?.body == "enough")
  }

  @Test func `works over streams that are cut at every byte`() throws {
    let (near, far) = try Socket.pair()
    let accepting = onThread { try RemoteXPCConnection.accept(on: Drip(far), by: RawPeer.soon) }
    let client = try RemoteXPCConnection.open(on: Drip(near), by: RawPeer.soon)
    let server = try accepting.get()
    let serving = onThread {
      let request = try #require(try server.receive(by: RawPeer.soon))
      try server.reply(request.body ?? .null, to: request, by: RawPeer.soon)
    }

    let body: XPCValue = ["key": [.uint64(1), .double(2.5), nil]]
    #expect(try client.request(body, by: RawPeer.soon).body == body)
    try serving.get()
  }

  @Test func `leaves descriptors and threads as they were after 200 rounds of every kind of end`() throws {
    // The first round makes what the process keeps.
    try round(0)
    let before = Resources.now

    for number in 1...200 { try round(number) }

    let after = Resources.now(within: .seconds(5)) { $0.isWithin(before) }
    #expect(after.isWithin(before), "\(before) became \(after)")
  }

  private func round(_ number: Int) throws {
    let (client, server) = try pair()
    switch number % 5 {
    case 0: client.close()
    case 1: server.close()
    case 2: #expect(throws: RemoteXPCError.timedOut) { try client.request("x", by: .after(.milliseconds(1))) }
    case 3:
      let (near, far) = try Socket.pair()
      try far.write([1, 2, 3, 4, 5, 6, 7, 8, 9], by: RawPeer.soon)
      #expect(throws: RemoteXPCError.self) { try RemoteXPCConnection.open(on: near, by: RawPeer.soon) }
    default: break
    }
  }
}

/// A stream that gives and takes one byte at a time.
final class Drip: ByteStream {
  private let stream: Socket
  init(_ stream: Socket) { self.stream = stream }

  func read(max: Int, by deadline: Deadline) throws(StreamError) -> [UInt8] { try stream.read(max: 1, by: deadline) }
  func write(_ bytes: [UInt8], by deadline: Deadline) throws(StreamError) {
    for byte in bytes { try stream.write([byte], by: deadline) }
  }
  func shutdown() { stream.shutdown() }
  func close() { stream.close() }
}

/// What a process holds.
struct Resources: Equatable {
  var descriptors: Int
  var threads: Int

  func isWithin(_ other: Resources) -> Bool { descriptors <= other.descriptors && threads <= other.threads }

  static var now: Resources {
    Resources(descriptors: entries("/proc/self/fd"), threads: entries("/proc/self/task"))
  }

  /// The state when the condition holds, or the last one at the limit.
  static func now(within limit: Duration, until condition: (Resources) -> Bool) -> Resources {
    let deadline = Deadline.after(limit)
    while true {
      let state = now
      if condition(state) || deadline.hasPassed { return state }
      usleep(1000)
    }
  }

  private static func entries(_ path: String) -> Int {
    guard let folder = opendir(path) else { return -1 }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    return count
  }
}
