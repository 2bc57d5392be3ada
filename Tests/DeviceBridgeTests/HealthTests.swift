@testable import DeviceBridge
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `the battery` {
  @Test func `is read once and kept, with its age`() async throws {
    let bench = try Bench("17.6")
    try bench.do("battery", ["percent": "61", "temperature": "33.5"])
    let lane = try await bench.lane()

    let first = try await lane.power(by: .patient)
    try bench.do("battery", ["percent": "20"])
    let second = try await lane.power(by: .patient)

    #expect(first == PowerReading(percent: 61, temperature: 33.5))
    #expect(second.percent == 61)
    #expect(second.age > .zero)
    #expect(
      bench.count("lockdown-request") { $0["service"] == "com.apple.mobile.diagnostics_relay" } == 1)
  }

  @Test func `is asked again after ten minutes`() {
    var memory = PowerMemory()
    let start = ContinuousClock.now
    memory.keep(PowerReading(percent: 50, temperature: 30), at: start)

    #expect(memory.reading(at: start + .seconds(599)) == PowerReading(percent: 50, temperature: 30, age: .seconds(599)))
    #expect(memory.reading(at: start + .seconds(600)) == nil)
    #expect(PowerMemory().reading(at: start) == nil)
  }

  @Test func `is unknown where its numbers make no sense`() {
    let none: [Plist] = [
      [:], ["CurrentCapacity": -1, "Temperature": 99_999], ["CurrentCapacity": "x"],
      ["CurrentCapacity": 7, "MaxCapacity": 0], .string("no"), ["CurrentCapacity": 200, "MaxCapacity": 100],
    ]
    for battery in none { #expect(PhoneWork.reading(battery) == PowerReading(percent: nil, temperature: nil)) }
    #expect(PhoneWork.reading(["CurrentCapacity": 1500, "MaxCapacity": 3000]).percent == 50)
  }
}

@Suite struct `the USB port` {
  @Test func `is found by the phone's serial, whatever its spelling`() throws {
    let root = try Tree([
      "1-2/serial": "00008101000A1B2C3D4E001E\n", "1-2.3/serial": "0123456789abcdef0123456789abcdef01234567\n",
      "1-2.3:1.0/serial": "wrong\n", "usb1/serial": "0000:00:14.0\n", "3-1/product": "a mouse\n",
    ])
    let ports = USBPorts(root: root.path)

    #expect(ports.port(of: UDID("00008101-000A1B2C3D4E001E")) == "1-2")
    #expect(ports.port(of: UDID("0123456789ABCDEF0123456789ABCDEF01234567")) == "1-2.3")
    #expect(ports.port(of: UDID("00008110-00112233445566AA")) == nil)
    #expect(ports.all().count == 2)
  }

  @Test func `is unknown where the kernel shows no bus`() {
    #expect(USBPorts(root: "/nonexistent").all().isEmpty)
  }
}

/// Files in folders of one level, gone with the object.
private final class Tree: Sendable {
  let path: String
  private let names: [String]

  init(_ files: [String: String]) throws {
    var template = Array("/tmp/tree-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Trouble("no folder") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    names = files.keys.sorted()
    for (name, text) in files {
      mkdir("\(path)/\(name.prefix { $0 != "/" })", 0o755)
      let fd = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      _ = write(fd, Array(text.utf8), text.utf8.count)
      close(fd)
    }
  }

  deinit {
    for name in names {
      unlink("\(path)/\(name)")
      rmdir("\(path)/\(name.prefix { $0 != "/" })")
    }
    rmdir(path)
  }
}
