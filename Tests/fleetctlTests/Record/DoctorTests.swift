import DeviceBridge
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@testable import Fleet
@testable import fleetctl

@Suite(.serialized) struct `fleetctl doctor` {
  /// Each check's state, by its name; of several bodies the last one's.
  private func states(_ phones: TestPhones) async throws -> (code: Int32?, states: [String: String], out: String) {
    let done = await phones.run("doctor", "--json")
    let objects = done.output.out.split(separator: "\n").compactMap { JSON(parsing: Array($0.utf8)) }
    #expect(!objects.isEmpty && objects.allSatisfy { Set($0.object?.keys.map { $0 } ?? []) == Self.keys })
    let pairs = objects.compactMap { object in
      object["check"]?.string.flatMap { check in object["state"]?.string.map { (check, $0) } }
    }
    return (done.code, Dictionary(pairs) { $1 }, done.output.out + done.output.err)
  }

  private static let keys: Set<String> = ["body", "udid", "check", "state", "found", "next"]

  @Test func `finds a phone that can be supervised in order, and misses only the supervisor`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("mount", on: "1")

    let (code, states, out) = try await states(phones)

    for check in [
      "configuration", "usbmuxd", "state folder", "disk space", "record", "phone locks", "cable", "trust", "lock",
      "app",
      "developer mode", "developer image", "door",
    ] { #expect(states[check] == "ok", "\(check): \(out)") }
    #expect(states["supervisor"] == "not-ok" && code == 1)
  }

  @Test func `says what is wrong with a phone, and what to do`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("unmount", on: "1")
    try phones.fleet.perform("developer-mode", on: "1", ["on": "no"])
    try phones.fleet.perform("kill-app", on: "1")
    try phones.fleet.perform("lock", on: "1")

    let (code, states, _) = try await states(phones)
    let text = await phones.run("doctor")

    #expect(code == 1)
    #expect(states["trust"] == "ok" && states["app"] == "ok" && states["developer mode"] == "not-ok")
    #expect(states["lock"] == "not-ok" && states["developer image"] == "not-ok" && states["door"] == "not-ok")
    #expect(text.output.out.contains("→ fleetctl mount "))
    #expect(text.output.out.contains("✗ lock"))
  }

  @Test func `takes what could not be checked for nothing else`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("untrust", on: "1")

    let (_, states, out) = try await states(phones)

    #expect(states["trust"] == "not-ok", "\(out)")
    #expect(["lock", "app", "developer image", "door"].allSatisfy { states[$0] == "unknown" })
    #expect([Finding.ok("a", ""), .unknown("b", "")].exitCode == .harness)
    #expect([Finding.unknown("b", ""), .notOK("c", "", next: "")].exitCode == .no)
    #expect([Finding.ok("a", "")].exitCode == .done)
  }

  @Test func `says that an iOS between the two ways of launching is none for supervision`() async throws {
    let phones = try TestPhones(1, ios: ["17.0"])

    let (_, states, out) = try await states(phones)

    #expect(states["iOS"] == "not-ok", "\(out)")
  }

  @Test func `says that the daemon is not there, and checks this machine all the same`() async throws {
    let state = RecordedState()

    let done = await state.run("doctor", "--json")

    let objects = done.output.out.split(separator: "\n").compactMap { JSON(parsing: Array($0.utf8)) }
    let daemon = objects.first { $0["check"] == .string("usbmuxd") }
    #expect(done.code == 1)
    #expect(daemon?["state"] == .string("not-ok") && daemon?["next"]?.string != nil)
    #expect(objects.first { $0["check"] == .string("bodies") }?["state"] == .string("unknown"))
    #expect(objects.contains { $0["check"] == .string("disk space") })
  }

  @Test func `finds a body that is not attached, and lets one out of service be`() async throws {
    let phones = try TestPhones(1)
    let yaml = phones.folder.write(
      """
      version: 1
      app: {bundle: com.example.kiosk}
      bodies:
        - {udid: \(RecordedState.hall), name: hall}
        - {udid: \(RecordedState.stairs), name: stairs, out-of-service: {reason: battery}}
      """, to: "bodies.yaml")

    let done = await phones.run("doctor", "--config", yaml, "--json")

    let objects = done.output.out.split(separator: "\n").compactMap { JSON(parsing: Array($0.utf8)) }
    let hall = objects.filter { $0["body"] == .string("hall") }
    let stairs = objects.filter { $0["body"] == .string("stairs") }
    #expect(hall.map { $0["check"] } == [.string("cable")] && hall.first?["state"] == .string("not-ok"))
    #expect(stairs.count == 1 && stairs.first?["state"] == .string("ok"))
  }

  @Test func `sees a damaged record, and one whose clock was ahead`() async throws {
    let damaged = RecordedState()
    _ = damaged.folder.write(String(repeating: "x", count: 8_192), to: "fleet.sqlite")
    let ahead = RecordedState()
    try await ahead.write(RecordedState.row(1, OutcomeWords(.up), after: 400_000_000))
    func record(_ state: RecordedState) async -> JSON? {
      let done = await state.run("doctor", "--json")
      return done.output.out.split(separator: "\n").compactMap { JSON(parsing: Array($0.utf8)) }
        .first { $0["check"] == .string("record") }
    }

    #expect(await record(damaged)?["state"] == .string("not-ok"))
    #expect(await record(ahead)?["found"]?.string?.contains("still to come") == true)
  }

  @Test func `splits a sentence into what was found and the next step`() {
    let finding = Finding("x", .notOK, sentence: "It is so. It may be that. See it: ls -l /a.b/c")

    #expect(finding.found == "It is so. It may be that." && finding.next == "See it: ls -l /a.b/c")
  }
}
