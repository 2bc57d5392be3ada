import Glibc
import Testing
import Transport
import Wire

/// A tunnel over two connected sockets, both ends in this process.
struct PumpedTunnel {
  let near: TunnelPump
  let far: TunnelPump

  init(host: String = "fd00::2", phone: String = "fd00::1", over carriers: (any TunnelCarrier, any TunnelCarrier))
    throws
  {
    let host = try #require(IPv6Address(host))
    let phone = try #require(IPv6Address(phone))
    near = try TunnelPump(over: carriers.0, address: host, peer: phone, mtu: 16000)
    far = try TunnelPump(over: carriers.1, address: phone, peer: host, mtu: 16000)
  }

  init(host: String = "fd00::2", phone: String = "fd00::1") throws {
    let (near, far) = try Socket.pair()
    try self.init(host: host, phone: phone, over: (near, far))
  }

  func connect() throws -> (TunnelStream, TunnelStream) {
    let port = try far.interface.listen()
    defer { far.interface.unlisten(port: port) }
    let near = try near.interface.connect(port: port, by: .after(.seconds(5)))
    return (near, try #require(far.interface.accept(by: .after(.seconds(5)))))
  }
}

/// Reads to the end.
func readAll(_ stream: some ByteStream) throws -> [UInt8] {
  var got: [UInt8] = []
  while case let part = try stream.read(max: 1 << 16, by: .after(.seconds(20))), !part.isEmpty { got += part }
  return got
}

@Suite struct `a tunnel's pump` {
  @Test func `carries streams over a socket, in packets that are safe on every phone`() throws {
    let tunnel = try PumpedTunnel()
    let (near, far) = try tunnel.connect()
    let bytes = (0..<2_000_003).map { UInt8(truncatingIfNeeded: $0 &* 13 ^ $0 >> 7) }
    let writing = onThread {
      try near.write(bytes, by: .after(.seconds(20)))
      near.endSending()
    }

    #expect(try readAll(far) == bytes)
    try writing.get()
    #expect(tunnel.near.end == nil)
  }

  @Test func `carries streams over TLS`() throws {
    let tunnel = try PumpedTunnel(over: try Certificates.pair())
    let (near, far) = try tunnel.connect()
    let bytes = [UInt8](repeating: 9, count: 1_000_000)
    let writing = onThread {
      try far.write(bytes, by: .after(.seconds(20)))
      far.endSending()
    }

    #expect(try readAll(near) == bytes)
    try writing.get()
    tunnel.far.close()
    #expect(tunnel.near.waitForEnd(by: .after(.seconds(5))) == .peerEnded)
  }

  @Test func `carries streams over a connection that gives and takes one byte at a time`() throws {
    let (near, far) = try Socket.pair()
    let tunnel = try PumpedTunnel(over: (DripCarrier(near), DripCarrier(far)))
    let (a, b) = try tunnel.connect()
    let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    try a.write(bytes, by: .after(.seconds(20)))
    a.endSending()

    #expect(try readAll(b) == bytes)
  }

  @Test func `writes each packet on its own`() throws {
    var fds: [Int32] = [0, 0]
    // Keeps the borders of writes, unlike a stream.
    try #require(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &fds) == 0)
    let far = Socket(adopting: fds[1])
    let host = try #require(IPv6Address("fd00::2"))
    let phone = try #require(IPv6Address("fd00::1"))
    let interface = try TunnelInterface(address: phone, peer: host, mtu: 16000) { packet in
      (try? far.writeNow(ArraySlice(packet))) ?? 0 > 0
    }
    let pump = try TunnelPump(over: Socket(adopting: fds[0]), address: host, peer: phone, mtu: 16000)
    let port = try interface.listen()
    let connecting = onThread { try pump.interface.connect(port: port, by: .after(.seconds(5))) }
    let writing = onThread { try connecting.get().write([UInt8](repeating: 1, count: 20_000), by: .after(.seconds(5))) }

    var sizes: [Int] = []
    while sizes.reduce(0, { $0 + $1 - 60 }) < 20_000 {
      let record = try far.read(max: 1 << 16, by: .after(.seconds(5)))
      var splitter = IPv6PacketSplitter()
      #expect(try splitter.feed(record).count == 1)
      sizes.append(record.count)
      interface.receive(record)
    }

    try writing.get()
    #expect(sizes.max() == 1520)
  }

  @Test func `takes packets that came together with the handshake`() throws {
    let (near, far) = try Socket.pair()
    let host = try #require(IPv6Address("fd00::2"))
    let phone = try #require(IPv6Address("fd00::1"))
    let first = Guarded<[UInt8]>([])
    let client = try TunnelInterface(address: host, peer: phone, mtu: 1500) { packet in
      first.with { $0 += packet }
      return true
    }
    let connecting = onThread { try? client.connect(port: 700, by: .after(.milliseconds(200))) }
    while first.with({ $0.isEmpty }) { sched_yield() }
    let early = first.with { $0 }

    let pump = try TunnelPump(over: near, address: phone, peer: host, mtu: 1500, early: early)

    // Nobody listens there: the answer to the early packet is a reset.
    let answer = try far.read(max: 1 << 16, by: .after(.seconds(5)))
    #expect(answer[IPv6Header.size + 13] & 4 == 4)
    #expect(pump.end == nil)
    _ = try connecting.get()
  }

  @Test func `closed from here says goodbye first`() throws {
    let tunnel = try PumpedTunnel()
    let (near, far) = try tunnel.connect()
    try near.write([1, 2, 3], by: .after(.seconds(5)))

    tunnel.near.close()

    #expect(try readAll(far) == [1, 2, 3])
    #expect(tunnel.near.end == .closed)
    #expect(tunnel.far.waitForEnd(by: .after(.seconds(5))) == .peerEnded)
    #expect(throws: StreamError.closed) { try near.write([1], by: .never) }
  }

  @Test func `closed from here waits no longer than its grace for a far end that reads nothing`() throws {
    let (near, far) = try Socket.pair()
    let host = try #require(IPv6Address("fd00::2"))
    let phone = try #require(IPv6Address("fd00::1"))
    let pump = try TunnelPump(over: near, address: host, peer: phone, mtu: 1500)
    let connecting = onThread { try pump.interface.connect(port: 1, by: .never) }
    _ = try far.read(max: 1, by: .after(.seconds(5)))

    pump.close(grace: .milliseconds(30))

    #expect(pump.end == .closed)
    #expect(throws: StreamError.closed) { try connecting.get() }
  }

  @Test func `fails every stream at once when the connection underneath ends`() throws {
    let (near, far) = try Socket.pair()
    let (host, phone) = (try #require(IPv6Address("fd00::2")), try #require(IPv6Address("fd00::1")))
    let told = Guarded<[TunnelEnd]>([])
    let pump = try TunnelPump(over: near, address: host, peer: phone, mtu: 1500) { end in told.with { $0.append(end) } }
    let phoneEnd = try TunnelPump(over: far, address: phone, peer: host, mtu: 1500)
    let port = try phoneEnd.interface.listen()
    let streams = try (0..<5).map { _ in try pump.interface.connect(port: port, by: .after(.seconds(5))) }
    let readers = streams.map { stream in onThread { try stream.read(max: 1, by: .never) } }

    far.shutdown()

    for reader in readers { #expect(throws: StreamError.closed) { try reader.get() } }
    #expect(pump.waitForEnd(by: .after(.seconds(5))) == .peerEnded)
    #expect(told.with { $0 } == [.peerEnded])
    #expect(throws: StreamError.closed) { try pump.interface.connect(port: port, by: .never) }
  }

  @Test func `ends with a reason when what comes are no packets`() throws {
    let (near, far) = try Socket.pair()
    let (host, phone) = (try #require(IPv6Address("fd00::2")), try #require(IPv6Address("fd00::1")))
    let pump = try TunnelPump(over: near, address: host, peer: phone, mtu: 1500)

    try far.write(Array("HTTP/1.1".utf8), by: .after(.seconds(5)))

    #expect(pump.waitForEnd(by: .after(.seconds(5))) == .outOfStep(.outOfStep(0x48)))
  }

  @Test func `drops a packet for another phone's address, and everything that is not TCP`() throws {
    let (near, far) = try Socket.pair()
    let host = try #require(IPv6Address("fd00::2"))
    let phone = try #require(IPv6Address("fd00::1"))
    let other = try Cable(host: "fd01::2", phone: "fd01::1")
    let pump = try TunnelPump(over: near, address: host, peer: phone, mtu: 1500)
    let body = [UInt8](repeating: 0, count: 20)
    var headers = [
      IPv6Header(source: phone, destination: other.near.address, payloadSize: 20),
      IPv6Header(source: other.far.address, destination: other.near.address, payloadSize: 20),
      IPv6Header(source: host, destination: host, payloadSize: 20),
      IPv6Header(source: phone, destination: try #require(IPv6Address("ff02::16")), payloadSize: 20),
    ]
    for next in [0, 17, 43, 44, 58] as [UInt8] {
      headers.append(IPv6Header(source: phone, destination: host, nextHeader: next, payloadSize: 20))
    }

    try far.write(headers.flatMap { $0.bytes + body }, by: .after(.seconds(5)))

    while pump.interface.dropped < headers.count, pump.end == nil { sched_yield() }
    #expect(pump.interface.dropped == headers.count)
    #expect(other.sent.isEmpty)
    pump.close()
    #expect(try readAll(far).isEmpty)
  }

  @Test func `leaves descriptors, threads and interfaces as they were after 200 rounds of every kind of end`() throws {
    try round(0)
    let before = Resources.now

    for number in 1...200 { try round(number) }

    let after = Resources.now(within: .seconds(5)) { $0.isWithin(before) }
    #expect(after.isWithin(before), "\(before) became \(after)")
    // As many as there may be can still be made: none was left behind.
    let cables = try (0..<(TunnelInterface.most / 4)).map {
      try PumpedTunnel(host: "fd00:\($0)::2", phone: "fd00:\($0)::1")
    }
    #expect(cables.count == TunnelInterface.most / 4)
  }

  private func round(_ number: Int) throws {
    let (a, b) = try Socket.pair()
    let tunnel = try PumpedTunnel(over: (a, b))
    let (near, far) = try tunnel.connect()
    try near.write([1], by: .after(.seconds(5)))
    switch number % 5 {
    case 0: tunnel.near.close()
    case 1: a.shutdown()
    case 2:
      near.close()
      far.reset()
    case 3: try b.write([0], by: .after(.seconds(5)))
    default: break
    }
  }
}

/// A connection that gives and takes one byte at a time.
final class DripCarrier: TunnelCarrier {
  private let socket: Socket
  init(_ socket: Socket) { self.socket = socket }

  var fd: Int32 { socket.fd }
  func readNow(into buffer: UnsafeMutableRawBufferPointer) throws(StreamError) -> Int? {
    try socket.readNow(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(1)))
  }
  func writeNow(_ bytes: ArraySlice<UInt8>) throws(StreamError) -> Int { try socket.writeNow(bytes.prefix(1)) }
  func close() { socket.close() }
}
