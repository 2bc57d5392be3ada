import DeviceBridge
import Testing
import Wire

@testable import fleetctl

@Suite struct `what a watch of the phones tells` {
  static let phone = ListedPhone(
    udid: UDID("00008110-000A1B2C3D4E5F60"), serial: "00008110000A1B2C3D4E5F60", deviceID: 4, transport: .usb,
    alsoNetwork: false)

  static func report(lock: LockState = .unlocked, error: PhoneError? = nil, hello: Duration? = nil) -> DeviceReport {
    var facts = PhoneFacts()
    facts.deviceName = error == nil ? "Hall" : nil
    facts.trust = error == nil ? .trusted : .untrusted
    facts.lock = LockReading(state: lock, why: "")
    facts.error = error
    return DeviceReport(body: nil, phone: phone, facts: facts, hello: hello)
  }

  /// A ledger that has told of the phone once.
  static func told(_ report: DeviceReport) -> DeviceLedger {
    var ledger = DeviceLedger { _ in nil }
    _ = ledger.take(.connected)
    _ = ledger.take(.attached(phone))
    _ = ledger.take(report)
    return ledger
  }

  @Test func `is a phone once it has been visited, and then only what changes`() {
    var ledger = DeviceLedger { _ in nil }

    #expect(ledger.take(.connected).changes.isEmpty)
    let attached = ledger.take(.attached(Self.phone))
    #expect(attached.changes.isEmpty && attached.visits == [Self.phone])
    #expect(ledger.take(Self.report(hello: .milliseconds(2))).changes.map(\.event) == [.attached])
    #expect(ledger.take(Self.report(hello: .milliseconds(9))).changes.isEmpty)
    let locked = ledger.take(Self.report(lock: .locked)).changes
    #expect(locked.map(\.event) == [.changed])
    #expect(locked[0].line(at: "T") == "T  changed   Hall  lock unlocked → locked")
    #expect(ledger.take(.detached(Self.phone.udid)).changes.map(\.event) == [.detached])
    #expect(ledger.take(Self.report()).changes.isEmpty)
  }

  @Test func `is also a phone that left before anybody could ask it`() {
    var ledger = DeviceLedger { _ in "hall" }
    _ = ledger.take(.attached(Self.phone))

    let left = ledger.take(.detached(Self.phone.udid)).changes

    #expect(left.map(\.event) == [.attached, .detached])
    #expect(left.allSatisfy { $0.report?.body == "hall" })
  }

  @Test func `H13: is one line and one complaint for a trouble that lasts a day`() {
    var ledger = DeviceLedger { _ in nil }
    _ = ledger.take(.attached(Self.phone))
    var lines = 0
    var complaints = 0

    for _ in 1...17_280 {
      let telling = ledger.take(Self.report(lock: .unknown, error: .untrusted(Self.phone.udid, .untrusted)))
      lines += telling.changes.count
      complaints += telling.complaints.count
    }

    #expect(lines == 1 && complaints == 1)
    #expect(ledger.take(Self.report()).changes.map(\.event) == [.changed])
  }

  @Test func `H13: is a complaint again once it has been away`() {
    var ledger = Self.told(Self.report(error: .silent(Self.phone.udid, step: "a visit", limit: .seconds(5))))

    let same = ledger.take(Self.report(error: .silent(Self.phone.udid, step: "reading", limit: .milliseconds(4_900))))
    let well = ledger.take(Self.report())
    let again = ledger.take(Self.report(error: .silent(Self.phone.udid, step: "a visit", limit: .seconds(5))))

    #expect(same.complaints.isEmpty && well.complaints.isEmpty && again.complaints.count == 1)
  }

  @Test func `H10: is the daemon's end once, its return once, and every phone that is there then`() {
    let address = MuxAddress.system
    var ledger = Self.told(Self.report())

    let first = ledger.take(.lost(.muxSilent(address, detail: "it closed")))
    let second = ledger.take(.lost(.noMux(address)))
    let back = ledger.take(.connected)
    _ = ledger.take(.attached(Self.phone))
    let phone = ledger.take(Self.report())

    #expect(first.changes.map(\.event) == [.daemonLost] && second.changes.isEmpty)
    #expect(back.changes.map(\.event) == [.daemonBack])
    #expect(phone.changes.map(\.event) == [.attached])
  }

  @Test func `has as JSON the keys of a line, and when and what`() {
    let keys = Set(Self.report().json.object.map { Array($0.keys) } ?? []).union(["at", "event"])
    let changes = [
      DeviceChange(event: .attached, report: Self.report()),
      DeviceChange(event: .detached, report: Self.report(lock: .locked)),
      DeviceChange(event: .daemonLost, error: .noMux(.system)), DeviceChange(event: .daemonBack),
    ]

    let objects = changes.map { $0.json(at: "T") }

    for object in objects { #expect(Set(object.object.map { Array($0.keys) } ?? []) == keys) }
    #expect(objects.map { $0["event"] } == ["attached", "detached", "daemon-lost", "daemon-back"])
    // What a phone that has left was like is not so any more.
    #expect(objects[1]["lock"] == .null && objects[1]["device_name"] == "Hall")
    #expect(objects[2]["error"]?.string != nil && objects[2]["udid"] == .null)
  }
}
