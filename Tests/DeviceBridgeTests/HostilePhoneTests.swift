import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

/// A phone without a pair record whose lockdownd answers each request with these bytes.
private func facts(answering bytes: [UInt8], stays: Bool = false) async throws -> PhoneFacts {
  let serial = "00008101-000A1B2C3D4E001E"
  let mux = try FakeMux { socket in
    while let request = FakeMux.request(on: socket) {
      switch request["MessageType"]?.string {
      case "ListDevices": FakeMux.send(["DeviceList": [FakeMux.entry(1, serial)]], on: socket)
      case "Connect":
        FakeMux.send(FakeMux.result(0), on: socket)
        answer(on: socket, with: bytes, stays: stays)
        return
      default: FakeMux.send(FakeMux.result(2), on: socket)
      }
    }
  }
  let phone = ListedPhone(udid: UDID(serial), serial: serial, deviceID: 1, transport: .usb, alsoNetwork: false)
  let lane = PhoneLane(phone, mux: mux.address)
  defer { lane.close() }
  return await lane.facts(by: .after(.seconds(stays ? 2 : 20)))
}

private func answer(on socket: Socket, with bytes: [UInt8], stays: Bool) {
  while let header = try? socket.read(exactly: ServiceFrame.headerSize, by: .patient),
    let size = try? ServiceFrame.payloadSize(header, limit: 1 << 20),
    (try? socket.read(exactly: size, by: .patient)) != nil
  {
    guard (try? socket.write(bytes, by: .patient)) != nil else { return }
    if !stays, bytes.count < ServiceFrame.headerSize { return }
  }
}

@Suite struct `whatever a phone's lockdownd answers` {
  private static let deep = 200_000

  /// Shared objects, each twice the one before: 2^64 when they are written out.
  private static var bomb: [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for level in 0..<64 {
      offsets.append(bytes.count)
      bytes += [0xA2, UInt8(level + 1), UInt8(level + 1)]
    }
    offsets.append(bytes.count)
    bytes += [0x50]
    let table = bytes.count
    bytes += offsets.map { UInt8($0) }
    bytes += [0, 0, 0, 0, 0, 0, 1, 1] + number(offsets.count) + number(0) + number(table)
    return bytes
  }

  private static func number(_ value: Int) -> [UInt8] { withUnsafeBytes(of: UInt64(value).bigEndian) { Array($0) } }

  private static var bodies: [(name: String, bytes: [UInt8])] {
    let open = Array(String(repeating: "<array>", count: deep).utf8)
    let closed = open + Array(String(repeating: "</array>", count: deep).utf8)
    let head = Array("<?xml version=\"1.0\"?><plist version=\"1.0\">".utf8)
    return [
      ("deep", head + closed + Array("</plist>".utf8)), ("deep and cut", head + open), ("bomb", bomb),
      ("empty", []), ("no list", Array("hello".utf8)), ("binary and short", Array("bplist00".utf8)),
      ("a string", Plist.string("x").xml), ("an array", Plist.array([1, 2]).binary),
      ("other types", Plist.dictionary(["Request": 1, "Error": ["x"], "Value": 2]).xml),
      ("another echo", Plist.dictionary(["Request": "Pair", "Value": "x"]).xml),
      ("a foul word", Plist.dictionary(["Request": "GetValue", "Error": "\u{7}\u{1B}[31m"]).xml),
    ]
  }

  @Test(arguments: 0..<11)
  func `neither crashes nor hangs`(_ index: Int) async throws {
    let body = Self.bodies[index]

    let facts = try await facts(answering: ServiceFrame.bytes(body.bytes))

    #expect(facts.trust == .untrusted)
    #expect(facts.deviceName == nil)
  }

  @Test(arguments: [[0xFF, 0xFF, 0xFF, 0xFF], [0x00, 0xFF, 0xFF, 0xFF], [0x00]] as [[UInt8]])
  func `ends at the deadline when a length promises what never comes`(_ header: [UInt8]) async throws {
    let facts = try await facts(answering: header, stays: true)

    #expect(facts.trust == .untrusted)
    #expect(facts.deviceName == nil)
  }

  @Test func `is read where it is right`() async throws {
    let facts = try await facts(
      answering: ServiceFrame.bytes(Plist.dictionary(["Request": "GetValue", "Value": "Hall"]).binary))

    #expect(facts.deviceName == "Hall")
    #expect(facts.ios == "Hall")
  }
}
