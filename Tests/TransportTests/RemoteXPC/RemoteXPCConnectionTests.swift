import Glibc
import Testing
import Transport
import Wire

@Suite struct `a RemoteXPC client` {
  let peer: RawPeer
  let near: Socket

  init() throws {
    let (near, far) = try Socket.pair()
    self.near = near
    peer = RawPeer(stream: far)
  }

  static let nonsense: [(String, [UInt8])] = [
    ("plain text", Array("HTTP/1.1 400 Bad Request\r\n\r\nnothing".utf8)),
    ("zeros", [UInt8](repeating: 0, count: 100)),
    ("a frame of 16 MiB", [0xFF, 0xFF, 0xFF, 4, 0, 0, 0, 0, 0]),
    ("no settings first", Frame.headers(1).bytes),
    ("a stream that nobody opened", Frame.settings().bytes + Frame.headers(9).bytes),
    ("a window of more than 2 GiB", Frame.settings().bytes + Frame.window(0, 0x7FFF_FFFF).bytes),
    ("a stray continuation", Frame.settings().bytes + Frame(type: 9, flags: 4, stream: 1).bytes),
  ]

  private func open() throws -> RemoteXPCConnection {
    try peer.greet()
    let connection = try RemoteXPCConnection.open(on: near, by: RawPeer.soon)
    try peer.readPreface()
    _ = try peer.readFrames { $0 == .acknowledgement }
    return connection
  }

  @Test func `opens with the frames of a host, in their order, before it has heard a word`() throws {
    let near = near
    let opening = onThread { try RemoteXPCConnection.open(on: near, by: RawPeer.soon) }

    try peer.readPreface()
    let frames = try (0..<7).map { _ in try peer.readFrame() }
    try peer.greet()
    _ = try opening.get()

    #expect(
      frames == [
        .settings((3, 100), (4, 1 << 20)), .window(0, 983_041), .headers(1), .message(1, .hello), .headers(3),
        .message(1, .version), .message(3, .replies),
      ])
    #expect(try peer.readFrame() == .acknowledgement)
  }

  @Test func `gives up at its deadline when the peer is silent`() throws {
    #expect(throws: RemoteXPCError.timedOut) {
      try RemoteXPCConnection.open(on: near, by: .after(.milliseconds(20)))
    }
    #expect(throws: StreamError.closed) { try peer.stream.read(exactly: 1 << 20, by: RawPeer.soon) }
  }

  @Test func `numbers its requests 1, 3, 5 and takes the reply with the same number`() throws {
    let connection = try open()
    let pending = onThread { try (1...3).map { try connection.request(["n": .int64($0)], by: RawPeer.soon).body } }

    for number in [1, 3, 5] as [UInt64] {
      let frame = try peer.readFrame()
      #expect(frame == .message(1, XPCMessage(.request, id: number, body: ["n": .int64(Int64(number / 2 + 1))])))
      if number == 1 { try peer.send(.headers(1), .message(1, .hello), .message(1, .version), .headers(3)) }
      try peer.send(
        .message(3, XPCMessage(.reply, id: 99, body: "somebody else's")),
        .message(3, XPCMessage(.reply, id: number, body: .uint64(number))))
    }

    #expect(try pending.get() == [.uint64(1), .uint64(3), .uint64(5)])
  }

  @Test func `lets several threads ask at once, whatever the order of the replies`() throws {
    let connection = try open()
    let asked = (0..<8).map { n in
      onThread { try connection.request(.int64(Int64(n)), by: RawPeer.soon).body }
    }
    var requests: [XPCMessage] = []
    var reader = XPCMessageReader()
    while requests.count < 8 { requests += try reader.feed(try peer.readFrame().body) }

    try peer.send(.headers(3))
    for request in requests.reversed() {
      try peer.send(.message(3, XPCMessage(.reply, id: request.id, body: request.body)))
    }

    for (n, pending) in asked.enumerated() { #expect(try pending.get() == .int64(Int64(n))) }
  }

  @Test func `waits no longer for a reply than its deadline, and the next request is not confused by it`() throws {
    let connection = try open()
    #expect(throws: RemoteXPCError.timedOut) {
      try connection.request("first", by: .after(.milliseconds(20)))
    }

    let second = onThread { try connection.request("second", by: RawPeer.soon).body }
    _ = try peer.readFrames { $0 == .message(1, XPCMessage(.request, id: 3, body: "second")) }
    try peer.send(
      .headers(3), .message(3, XPCMessage(.reply, id: 1, body: "late")),
      .message(3, XPCMessage(.reply, id: 3, body: "in time")))

    #expect(try second.get() == "in time")
  }

  @Test func `takes a push that came before it was waited for`() throws {
    let connection = try open()
    try peer.send(.headers(1), .message(1, .hello), .message(1, XPCMessage(.push, id: 2, body: "first")))
    try peer.send(.message(1, XPCMessage(.push, id: 4, body: "second")))

    #expect(try connection.receive(by: RawPeer.soon)?.body == "first")
    #expect(try connection.receive(by: RawPeer.soon)?.body == "second")
    #expect(throws: RemoteXPCError.timedOut) { try connection.receive(by: .after(.milliseconds(10))) }
  }

  @Test func `reads messages whole, one over many frames and many in one frame`() throws {
    let connection = try open()
    let message = XPCMessage(.push, id: 2, body: .data((0..<400).map { UInt8($0 & 0xFF) })).bytes
    try peer.send(.headers(1))

    try peer.stream.write(message.flatMap { Frame.data(1, [$0]).bytes }, by: RawPeer.soon)
    try peer.send(.data(1, message + message))

    for _ in 0..<3 { #expect(try connection.receive(by: RawPeer.soon)?.body?.bytes?.count == 400) }
  }

  @Test func `sees the peer's orderly end as one`() throws {
    let connection = try open()
    try peer.send(.headers(1), .message(1, XPCMessage(.push, id: 2, body: "last")))
    peer.stream.close()

    #expect(try connection.receive(by: RawPeer.soon)?.body == "last")
    #expect(try connection.receive(by: RawPeer.soon) == nil)
    #expect(throws: RemoteXPCError.stream(.closed)) { try connection.request("x", by: RawPeer.soon) }
    #expect(!connection.isOpen)
  }

  @Test func `tells how the peer refused it: a stream ended, the connection ended`() throws {
    let connection = try open()
    try peer.send(.headers(1), .reset(1, code: 5))
    #expect(throws: RemoteXPCError.reset(stream: 1, code: 5)) { try connection.request("x", by: RawPeer.soon) }

    let (near, far) = try Socket.pair()
    try RawPeer(stream: far).greet()
    let second = try RemoteXPCConnection.open(on: near, by: RawPeer.soon)
    try RawPeer(stream: far).send(.goAway(code: 2))
    #expect(throws: RemoteXPCError.goneAway(2)) { try second.receive(by: RawPeer.soon) }
  }

  @Test func `closed from another thread ends a call under way`() throws {
    let connection = try open()
    let pending = onThread { try connection.receive(by: .never) }
    let asking = onThread { try connection.request("x", by: .never) }
    _ = try peer.readFrame()

    connection.close()

    #expect(throws: RemoteXPCError.stream(.closed)) { try pending.get() }
    #expect(throws: RemoteXPCError.stream(.closed)) { try asking.get() }
  }

  @Test(arguments: nonsense)
  func `ends with a reason when the peer speaks no HTTP/2`(what: String, bytes: [UInt8]) throws {
    try peer.stream.write(bytes, by: RawPeer.soon)

    let error = #expect(throws: RemoteXPCError.self) {
      let connection = try RemoteXPCConnection.open(on: near, by: .after(.seconds(2)))
      _ = try connection.receive(by: .after(.seconds(2)))
    }

    guard case .http2(let text) = error else {
      Issue.record("\(what): \(String(describing: error))")
      return
    }
    #expect(!text.isEmpty)
  }

  @Test func `refuses what is no message, and a claim of 4 GiB without taking memory for it`() throws {
    var claim = XPCMessage(.push, id: 2, body: "x").bytes
    claim.replaceSubrange(8..<16, with: [0, 0, 0, 0, 1, 0, 0, 0])
    let connection = try open()
    try peer.send(.headers(1), .data(1, claim))
    #expect(
      throws: RemoteXPCError.message(.tooLarge(bytes: 1 << 32, limit: RemoteXPCConnection.defaultLimit))
    ) { try connection.receive(by: RawPeer.soon) }

    let (near, far) = try Socket.pair()
    try RawPeer(stream: far).greet()
    let second = try RemoteXPCConnection.open(on: near, by: RawPeer.soon)
    try RawPeer(stream: far).send(.headers(1), .data(1, [UInt8](repeating: 7, count: 24)))
    #expect(throws: RemoteXPCError.message(.wrongMagic(0x0707_0707))) { try second.receive(by: RawPeer.soon) }
  }

  @Test func `keeps no more unasked messages than it may`() throws {
    try peer.greet()
    let connection = try RemoteXPCConnection.open(on: near, limit: 1000, by: RawPeer.soon)
    let push = Frame.message(1, XPCMessage(.push, id: 2, body: .data([UInt8](repeating: 0, count: 400))))
    let peer = peer
    try peer.send(.headers(1), push, push, push)

    #expect(throws: RemoteXPCError.flooded) {
      _ = try connection.request("x", by: RawPeer.soon)
    }
  }
}
