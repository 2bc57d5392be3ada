import Testing
import Transport
import Wire

@testable import VirtualPhone

/// Random bytes with a seed, so that a failure can be had again.
private struct Noise: RandomNumberGenerator {
  private var state: UInt64

  init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }

  mutating func bytes(upTo count: Int) -> [UInt8] {
    (0..<Int.random(in: 1...count, using: &self)).map { _ in UInt8.random(in: .min ... .max, using: &self) }
  }

  /// The bytes with a few of them changed, cut or doubled.
  mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...Int.random(in: 0...4, using: &self) where !bytes.isEmpty {
      let index = Int.random(in: bytes.indices, using: &self)
      switch Int.random(in: 0..<4, using: &self) {
      case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &self)
      case 1: bytes.remove(at: index)
      case 2: bytes.insert(bytes[index], at: index)
      default: bytes.removeSubrange(index..<min(bytes.count, index + 8))
      }
    }
    return bytes
  }
}

/// Hosts that talk nonsense: no crash, their connection ends with them, and others are served as before.
@Suite struct `nonsense` {
  private static let rounds = 0..<40

  /// Sends the bytes, ends its side, and takes what comes until the phone ends the connection.
  private func pour(_ bytes: [UInt8], into stream: any ByteStream, _ socket: Socket) {
    do throws(StreamError) {
      try stream.write(bytes, by: .after(soon))
      socket.endSending()
      while !(try stream.read(max: 65_536, by: .after(soon)).isEmpty) {}
    } catch {
      #expect(error != .timedOut)
    }
    socket.close()
  }

  private func serves(_ test: TestFleet) throws -> Bool {
    try test.session().value("DeviceName") == "Phone 1"
  }

  @Test func `at the mux ends that connection alone`() async throws {
    let test = try TestFleet()

    try await onWorker {
      for seed in Self.rounds {
        var noise = Noise(seed: seed)
        let host = try test.mux()
        let request = MuxFrame(["MessageType": "ReadPairRecord", "PairRecordID": "A"], tag: 1).bytes
        self.pour(
          seed.isMultiple(of: 2) ? noise.bytes(upTo: 512) : noise.damaged(request), into: host.socket, host.socket)
      }
    }

    #expect(try serves(test))
  }

  @Test func `at lockdownd ends that connection alone`() async throws {
    let test = try TestFleet()

    try await onWorker {
      for seed in Self.rounds {
        var noise = Noise(seed: seed)
        let host = try test.lockdown()
        let request = ServiceFrame.bytes(Plist.dictionary(["Request": "GetValue", "Key": "DeviceName"]).xml)
        self.pour(
          seed.isMultiple(of: 2) ? noise.bytes(upTo: 512) : noise.damaged(request), into: host.socket, host.socket)
      }
    }

    #expect(try serves(test))
  }

  @Test func `in place of the TLS handshake ends that connection alone`() async throws {
    let test = try TestFleet()
    let hostID = try test.record()["HostID"] ?? ""

    try await onWorker {
      for seed in Self.rounds {
        var noise = Noise(seed: seed)
        let host = try test.lockdown()
        _ = try host.ask("StartSession", ["HostID": hostID])
        // A client hello's head, so that the library reads on.
        self.pour([0x16, 3, 1, 0, 200, 1] + noise.bytes(upTo: 512), into: host.socket, host.socket)
      }
    }

    #expect(try serves(test))
  }

  @Test func `inside a session ends that connection alone`() async throws {
    let test = try TestFleet()

    try await onWorker {
      for seed in Self.rounds {
        var noise = Noise(seed: seed)
        let host = try test.session()
        let request = ServiceFrame.bytes(Plist.dictionary(["Request": "StartService", "Service": "A"]).binary)
        self.pour(
          seed.isMultiple(of: 2) ? noise.bytes(upTo: 512) : noise.damaged(request), into: host.stream, host.socket)
      }
    }

    #expect(try serves(test))
  }

  @Test(arguments: [
    "StartSession", "Pair", "GetValue", "SetValue", "StartService", "StopSession", "Unpair", "RemoveValue",
  ])
  func `in place of a request's values is refused in words`(request: String) throws {
    let test = try TestFleet()
    let odd: [Plist] = [
      5, true, "", [:], [[:]], .data([]), .date(0), .real(.nan), .uid(7), .integer(.min), ["HostID": 5],
      ["HostID": "A", "DeviceCertificate": "text"], .string(String(repeating: "x", count: 10_000)),
    ]
    let fields = ["HostID", "PairRecord", "Key", "Domain", "Value", "Service", "SessionID", "EscrowBag"]

    for value in odd {
      let host = try test.session()
      let answer = try host.ask(request, Dictionary(uniqueKeysWithValues: fields.map { ($0, value) }))
      #expect(answer["Request"]?.string == request)
    }

    #expect(try serves(test))
  }

  @Test func `at the control socket ends that connection alone`() async throws {
    let test = try TestFleet()

    try await onWorker {
      for seed in Self.rounds {
        var noise = Noise(seed: seed)
        let socket = try Socket.connect(to: .unix(path: "\(test.folder)/control"), by: .after(soon))
        self.pour(noise.bytes(upTo: 2048) + [UInt8(ascii: "\n")], into: socket, socket)
      }
    }

    #expect(try serves(test))
  }
}
