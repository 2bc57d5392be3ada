import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a lockdownd that hangs` {
  private static let requests = ["QueryType", "GetValue", "SetValue", "StartSession"]

  private func request(_ name: String, of test: TestFleet) throws -> [String: Plist] {
    switch name {
    case "SetValue": ["Key": "UntrustedHostBUID", "Value": "X"]
    case "GetValue": ["Key": "DeviceName"]
    default: ["HostID": try test.record()["HostID"] ?? ""]
    }
  }

  @Test(arguments: requests) func `before a request has neither heard nor answered it`(name: String) throws {
    let test = try TestFleet()
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": "hang", "request": name])
    let host = try test.lockdown()

    try host.send(name, try request(name, of: test))

    #expect(throws: StreamError.timedOut) { try host.stream.read(max: 1, by: .after(.milliseconds(50))) }
    #expect(test.requests("lockdown-request").isEmpty)
    try test.fleet.perform("detach", on: "1")
    #expect(host.isEnded())
  }

  @Test(arguments: requests) func `after a request has answered it rightly`(name: String) throws {
    let test = try TestFleet()
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": "hang", "when": "after", "request": name])
    let host = try test.lockdown()

    let answer = try host.ask(name, try request(name, of: test))
    try host.send("QueryType")

    #expect(answer["Error"] == nil)
    #expect(throws: StreamError.timedOut) { try host.stream.read(max: 1, by: .after(.milliseconds(50))) }
  }

  @Test func `in the middle of an answer keeps the rest`() throws {
    let test = try TestFleet()
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": "stall", "request": "GetValue"])
    let host = try test.lockdown()

    try host.send("GetValue", ["Key": "DeviceName"])
    let size = try ServiceFrame.payloadSize(try host.stream.read(exactly: 4, by: .after(soon)), limit: 1 << 20)

    #expect(try host.stream.read(exactly: size / 2, by: .after(soon)).count > 50)
    #expect(throws: StreamError.timedOut) { try host.stream.read(max: 1, by: .after(.milliseconds(50))) }
  }

  @Test func `may close instead, once it has answered`() throws {
    let test = try TestFleet()
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": "close", "when": "after", "request": "QueryType"])
    let host = try test.lockdown()

    #expect(try host.ask("QueryType")["Type"] != nil)
    #expect(host.isEnded())
  }
}

@Suite struct `a lockdownd that lies` {
  private func host(_ fault: [String: String]) throws -> (TestFleet, LockdownHost) {
    let test = try TestFleet()
    try test.fleet.perform("lockdown-fault", on: "1", fault.merging(["request": "GetValue"]) { own, _ in own })
    return (test, try test.lockdown())
  }

  @Test(arguments: [("echo", "NoSuchRequest"), ("mute", nil)] as [(String, String?)])
  func `answers another request than it was asked, and goes on`(kind: String, named: String?) throws {
    let (test, host) = try host(["kind": kind, "count": "1"])

    let answer = try host.ask("GetValue", ["Key": "DeviceName"])

    #expect(answer["Request"]?.string == named)
    #expect(answer["Value"] == "Phone 1")
    #expect(try host.ask("GetValue", ["Key": "DeviceName"])["Request"] == "GetValue")
    #expect(test.requests("lockdown-request") == ["GetValue", "GetValue"])
  }

  @Test func `gives numbers and booleans as text`() throws {
    let test = try TestFleet()
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": "mistyped", "request": "StartSession"])

    let answer = try test.lockdown().ask("StartSession", ["HostID": try test.record()["HostID"] ?? ""])

    #expect(answer["EnableSessionSSL"] == "true")
  }

  @Test func `claims four gigabytes and never comes to their end`() throws {
    let (_, host) = try host(["kind": "oversized"])

    try host.send("GetValue", ["Key": "DeviceName"])

    #expect(try host.stream.read(exactly: 4, by: .after(soon)) == [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(try host.stream.read(exactly: 5, by: .after(soon)) == Array("<?xml".utf8))
  }

  @Test(arguments: [("half", 2), ("noise", 256)])
  func `breaks off after so many bytes of nonsense`(kind: String, bytes: Int) throws {
    let (_, host) = try host(["kind": kind])

    try host.send("GetValue", ["Key": "DeviceName"])

    #expect(try host.stream.read(exactly: bytes, by: .after(soon)).count == bytes)
    #expect(host.isEnded())
  }

  @Test(arguments: ["garbage", "half-body", "empty"])
  func `sends a frame that holds no property list`(kind: String) throws {
    let (_, host) = try host(["kind": kind])

    #expect(throws: (any Error).self) { try host.ask("GetValue", ["Key": "DeviceName"]) }
  }

  @Test func `nests as deep as it is told, in a frame of the right length`() throws {
    let (_, host) = try host(["kind": "deep", "size": "30000", "count": "1"])

    try host.send("GetValue", ["Key": "DeviceName"])
    let text = String(decoding: try host.receiveBytes(), as: UTF8.self)

    #expect(text.components(of: "<array>") == 30_000)
    #expect(text.components(of: "</array>") == 30_000)
    #expect(text.hasSuffix("</dict></plist>\n"))
    #expect(try host.value("DeviceName") == "Phone 1")
  }

  @Test func `answers as long as it is told, and rightly framed`() async throws {
    let (test, host) = try host(["kind": "huge", "size": "3000000", "count": "1"])
    _ = test
    try host.send("GetValue", ["Key": "DeviceName"])

    let answer = try Plist(parsing: try host.receiveBytes())

    #expect(answer["Request"] == "GetValue")
    #expect(answer["Value"]?.string?.utf8.count == 3_000_000)
    #expect(try host.value("DeviceName") == "Phone 1")
  }

  @Test func `drips its answer byte by byte, which is whole in the end`() throws {
    let (_, host) = try host(["kind": "drip", "pause": "0s"])

    #expect(try host.value("DeviceName") == "Phone 1")
  }

  @Test func `that drips slowly is ended by the cable at once`() throws {
    let (test, host) = try host(["kind": "drip", "pause": "1h"])
    try host.send("GetValue", ["Key": "DeviceName"])
    _ = try host.stream.read(exactly: 1, by: .after(soon))

    try test.fleet.perform("detach", on: "1")

    #expect(host.isEnded())
  }

  @Test func `tells the truth again when its faults are taken back`() throws {
    let test = try TestFleet()
    for kind in LockdownFault.Kind.allCases {
      try test.fleet.perform("lockdown-fault", on: "1", ["kind": kind.rawValue, "request": "all"])
    }

    try test.fleet.perform("lockdown-fault", on: "1", ["clear": "yes"])

    #expect(try test.session().value("DeviceName") == "Phone 1")
  }
}

extension String {
  fileprivate func components(of word: String) -> Int {
    var count = 0
    var rest = self[...]
    while let found = rest.firstRange(of: word) {
      count += 1
      rest = rest[found.upperBound...]
    }
    return count
  }
}

/// Phone time that is over for every socket once a test says so.
private final class ExpiringClock: PhoneClock {
  private struct State {
    var isOver = false
    var asked: [Duration] = []
  }

  private let state = Guarded(State())
  var now: Duration { .zero }
  /// The spans that were waited for.
  var asked: [Duration] { state.with { $0.asked } }

  func expire() { state.with { $0.isOver = true } }

  func wait(until moment: Duration, unless latch: Latch) -> Bool { !latch.wait(until: .never) }

  func deadline(after span: Duration) -> Deadline {
    state.with {
      $0.asked.append(span)
      return $0.isOver ? .after(.zero) : .never
    }
  }
}

@Suite struct `an idle lockdown connection` {
  @Test func `without a session ends after 45 s of the phone's time`() throws {
    let clock = ExpiringClock()
    let phone = try LonePhone(clock: clock)
    let host = try phone.lockdown()
    _ = try host.ask("QueryType")

    clock.expire()
    // The wait that was under way has no end; the next one has.
    _ = try host.ask("QueryType")

    #expect(host.isEnded())
    #expect(Set(clock.asked) == [.seconds(45)])
  }

  @Test func `with a session stays`() throws {
    let clock = ExpiringClock()
    let phone = try LonePhone(clock: clock)
    let session = try phone.session()
    clock.expire()

    for _ in 0..<3 { #expect(try session.value("DeviceName") == "Phone 1") }
  }
}
