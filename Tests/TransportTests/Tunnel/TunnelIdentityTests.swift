import Glibc
import Testing
import Transport
import Wire

/// Tunnels whose phones chose the same addresses, and even the same ports.
@Suite struct `two tunnels with the same addresses` {
  let first: PumpedTunnel
  let second: PumpedTunnel

  init() throws {
    first = try PumpedTunnel()
    second = try PumpedTunnel()
  }

  @Test func `connect each to its own phone`() throws {
    for tunnel in [first, second] { try tunnel.far.interface.listen(port: 5000) }
    let streams = try [first, second, first, second].map {
      try $0.near.interface.connect(port: 5000, by: .after(.seconds(5)))
    }

    for (number, stream) in streams.enumerated() { try stream.write([UInt8(number)], by: .after(.seconds(5))) }

    for numbers in [(first, [0, 2]), (second, [1, 3])] as [(PumpedTunnel, [UInt8])] {
      let got = try (0..<2).map { _ in
        let stream = try #require(numbers.0.far.interface.accept(by: .after(.seconds(5))))
        return try stream.read(exactly: 1, by: .after(.seconds(5)))[0]
      }
      #expect(got.sorted() == numbers.1)
    }
    #expect(first.far.interface.accept(by: .after(.zero)) == nil)
    #expect(second.far.interface.accept(by: .after(.zero)) == nil)
  }

  @Test func `refuse each for itself: where one listens the other does not`() throws {
    try second.far.interface.listen(port: 5000)

    #expect(throws: StreamError.system(ECONNREFUSED)) {
      try first.near.interface.connect(port: 5000, by: .after(.seconds(5)))
    }
    _ = try second.near.interface.connect(port: 5000, by: .after(.seconds(5)))
    #expect(throws: StreamError.system(ECONNREFUSED)) {
      try first.near.interface.connect(port: 5000, by: .after(.seconds(5)))
    }
  }

  @Test func `end each for itself`() throws {
    let (near, far) = try second.connect()
    let (lost, _) = try first.connect()

    first.near.close()
    first.far.close()
    try near.write([1], by: .after(.seconds(5)))
    try far.write([2], by: .after(.seconds(5)))

    #expect(throws: StreamError.closed) { try lost.write([1], by: .never) }
    #expect(try far.read(exactly: 1, by: .after(.seconds(5))) == [1])
    #expect(try near.read(exactly: 1, by: .after(.seconds(5))) == [2])
  }

  @Test func `carry bulk side by side without a byte in the wrong place`() throws {
    let pairs = try [first, second, first, second].map { try $0.connect() }
    let work = pairs.enumerated().map { number, pair in
      let bytes = (0..<700_001).map { UInt8(truncatingIfNeeded: $0 &* (2 * number + 3) ^ $0 >> 8) }
      return (
        onThread {
          try pair.0.write(bytes, by: .after(.seconds(20)))
          pair.0.endSending()
        }, onThread { try readAll(pair.1) == bytes }
      )
    }

    for (writing, reading) in work {
      try writing.get()
      #expect(try reading.get())
    }
  }
}

@Suite struct `both ends of a tunnel in one process` {
  @Test func `refuse by the wire, also where the asking end is the newer one, and may go at once`() throws {
    let phone = try #require(IPv6Address("fd01::1"))
    let host = try #require(IPv6Address("fd01::2"))
    for _ in 0..<200 {
      let answers = Guarded<[[UInt8]]>([])
      let far = try TunnelInterface(address: phone, peer: host, mtu: 1500) { packet in
        answers.with { $0.append(Array(packet)) }
        return true
      }
      let near = try TunnelInterface(address: host, peer: phone, mtu: 1500) { _ in true }
      let header = IPv6Header(source: host, destination: phone, payloadSize: 20).bytes
      // A SYN from port 1000 to port 7, with its checksum.
      let segment: [UInt8] = [3, 0xE8, 0, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 0xFF, 0xFF, 0, 0, 0, 0]

      far.receive(header + Self.summed(segment, header))
      near.close()
      far.close()

      // The flags of a reset that answers.
      let answer = try #require(answers.with { $0 }.first)
      #expect(answer.count == 60 && answer[53] == 0x14)
    }
  }

  private static func summed(_ segment: [UInt8], _ header: [UInt8]) -> [UInt8] {
    let pseudo = header[8..<40] + [0, 0, 0, UInt8(segment.count), 0, 0, 0, 6] + segment
    var sum = stride(from: pseudo.startIndex, to: pseudo.endIndex, by: 2).reduce(UInt32(0)) {
      $0 + UInt32(pseudo[$1]) << 8 + UInt32(pseudo[$1 + 1])
    }
    while sum > 0xFFFF { sum = sum >> 16 + sum & 0xFFFF }
    var segment = segment
    segment[16] = UInt8(~sum >> 8 & 0xFF)
    segment[17] = UInt8(~sum & 0xFF)
    return segment
  }
}

@Suite struct `many tunnels at once` {
  @Test func `open, connect and carry, 64 of them`() throws {
    let tunnels = try (0..<64).map { try PumpedTunnel(host: "fd00:\($0)::2", phone: "fd00:\($0)::1") }

    let streams = try tunnels.map { try $0.connect() }
    for (number, pair) in streams.enumerated() {
      try pair.0.write([UInt8](repeating: UInt8(number), count: 30_000), by: .after(.seconds(5)))
      pair.0.endSending()
    }

    for (number, pair) in streams.enumerated() {
      #expect(try readAll(pair.1) == [UInt8](repeating: UInt8(number), count: 30_000))
    }
  }

  @Test func `are refused beyond what the stack can number, and possible again afterwards`() throws {
    let (host, phone) = (try #require(IPv6Address("fd00::2")), try #require(IPv6Address("fd00::1")))
    var interfaces: [TunnelInterface] = []
    func add() throws { interfaces.append(try TunnelInterface(address: host, peer: phone, mtu: 1500) { _ in true }) }

    #expect(throws: StreamError.system(ENOBUFS)) {
      for _ in 0...TunnelInterface.most { try add() }
    }
    interfaces.removeLast(10)

    try add()
    #expect(!interfaces.isEmpty)
  }
}
