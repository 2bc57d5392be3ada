import Glibc
import Testing
import Transport
import Wire

/// A peer that writes its own packets.
@Suite struct `a peer that breaks TCP` {
  let host: IPv6Address
  let phone: IPv6Address
  let sent = Guarded<[[UInt8]]>([])
  let interface: TunnelInterface

  init() throws {
    host = try #require(IPv6Address("fd00::2"))
    phone = try #require(IPv6Address("fd00::1"))
    let sent = sent
    interface = try TunnelInterface(address: phone, peer: host, mtu: 1500) { packet in
      let bytes = Array(packet)
      sent.with { $0.append(bytes) }
      return true
    }
  }

  /// A segment with a right checksum.
  private func segment(
    from port: UInt16, to listener: UInt16, sequence: UInt32, acknowledging: UInt32 = 0, flags: UInt8,
    window: UInt16 = 65535, options: [UInt8] = [], body: [UInt8] = []
  ) -> [UInt8] {
    func big(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xFF)] }
    var tcp = big(port) + big(listener) + Frame.big(sequence) + Frame.big(acknowledging)
    tcp += [UInt8(((20 + options.count) / 4) << 4), flags] + big(window) + [0, 0, 0, 0] + options + body
    var sum: UInt32 = UInt32(tcp.count) + 6
    let pseudo = host.bytes + phone.bytes + tcp + (tcp.count % 2 == 1 ? [0] : [])
    for index in stride(from: 0, to: pseudo.count, by: 2) {
      sum += UInt32(pseudo[index]) << 8 | UInt32(pseudo[index + 1])
    }
    while sum > 0xFFFF { sum = sum & 0xFFFF + sum >> 16 }
    let checksum = big(~UInt16(sum))
    tcp[16] = checksum[0]
    tcp[17] = checksum[1]
    return IPv6Header(source: host, destination: phone, payloadSize: tcp.count).bytes + tcp
  }

  @Test func `is heard although it asks for what nobody knows: fast open, congestion marks, timestamps`() throws {
    let port = try interface.listen()
    let options: [UInt8] =
      [2, 4, 0x3E, 0x44, 4, 2, 3, 3, 8, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 34, 2, 1, 1]

    interface.receive(segment(from: 49152, to: port, sequence: 1000, flags: 0xC2, options: options))

    let answer = try #require(sent.with { $0.first })
    #expect(answer[IPv6Header.size + 13] & 0x3F == 0x12, "SYN and ACK")
    #expect(Array(answer[(IPv6Header.size + 8)...].prefix(4)) == Frame.big(1001))
  }

  @Test func `opens no more than a thousand connections, and fills no more than one queue`() throws {
    let port = try interface.listen()

    for number in 0..<5000 {
      interface.receive(segment(from: UInt16(10_000 + number), to: port, sequence: 1, flags: 2))
    }

    #expect(interface.connections <= 1024)
    #expect(interface.dropped >= 3000)
  }

  @Test(arguments: UInt64(1)...2) func `cannot harm the stack with any packet`(seed: UInt64) throws {
    let port = try interface.listen()
    var random = Xorshift(seed: seed &* 0x9E37_79B9)
    var known: [(port: UInt16, next: UInt32, acknowledged: UInt32)] = []
    for round in 0..<30_000 {
      let from = UInt16(20_000 + random.next(40))
      let flags = UInt8(random.next(64))
      var packet = segment(
        from: from, to: random.next(10) == 0 ? UInt16(random.next(65536)) : port,
        sequence: known.last(where: { $0.port == from })?.next ?? UInt32(random.next(1 << 32)),
        acknowledging: known.last(where: { $0.port == from })?.acknowledged ?? UInt32(random.next(1 << 32)),
        flags: flags, window: UInt16(random.next(65536)),
        options: (0..<random.next(11) * 4).map { _ in UInt8(random.next(256)) },
        body: (0..<random.next(40)).map { _ in UInt8(random.next(256)) })
      if random.next(4) == 0 {
        for _ in 0...random.next(4) { packet[random.next(packet.count)] = UInt8(random.next(256)) }
      }
      if random.next(50) == 0 { packet.removeLast(random.next(packet.count)) }
      interface.receive(packet)
      // What it answers is followed now and then, so that connections come to every state.
      for answer in sent.with({ sent in
        defer { sent = [] }
        return sent
      }) where answer.count >= 60 && random.next(2) == 0 {
        let tcp = answer[IPv6Header.size...].map { $0 }
        func number(_ at: Int) -> UInt32 { tcp[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) } }
        known.append((UInt16(tcp[2]) << 8 | UInt16(tcp[3]), number(8), number(4) &+ UInt32(tcp[13] & 3 == 0 ? 0 : 1)))
        if known.count > 200 { known.removeFirst(100) }
      }
      if round % 100 == 0 {
        while let stream = interface.accept(by: .after(.zero)) {
          if random.next(2) == 0 { _ = try? stream.read(max: 100, by: .after(.zero)) }
          if random.next(2) == 0 { try? stream.write([1, 2, 3], by: .after(.zero)) }
          if random.next(3) == 0 { stream.endSending() }
        }
      }
    }

    // Afterwards an honest host is served as ever.
    interface.unlisten(port: port)
    #expect(interface.connections <= 1024)
    let cable = try Cable()
    let (near, far) = try cable.connect()
    try near.write([1], by: .after(.seconds(5)))
    #expect(try far.read(exactly: 1, by: .after(.seconds(5))) == [1])
  }
}

/// Numbers that look random and are the same in every run.
struct Xorshift {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  /// - Returns: zero up to, not including, the bound.
  mutating func next(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }
}
