import Testing
import Transport
import Wire

@testable import VirtualPhone

/// A host of its own, as a new machine would bring one.
private struct NewHost {
  let record: Plist
  let sent: Plist

  init(_ phone: VirtualPhone, hostID: String = "NEW-HOST") throws {
    let keys = try FleetKeys.shared.get()
    // The fleet's own certificates under another name: making new ones costs half a second.
    let xml = keys.pairRecord(
      hostID: hostID, systemBUID: "BUID", escrowBag: [], wifiAddress: phone.identity.wifiAddress)
    record = try Plist(parsing: xml)
    sent = .dictionary((record.dictionary ?? [:]).filter { !$0.key.hasSuffix("PrivateKey") })
  }
}

@Suite struct `a request to pair` {
  private func pair(_ test: TestFleet, _ host: NewHost) throws -> Plist {
    try test.lockdown().ask("Pair", ["PairRecord": host.sent, "ProtocolVersion": "2"])
  }

  @Test func `is granted with an escrow bag, and the host may then open a session`() throws {
    let test = try TestFleet(trusted: false)
    let host = try NewHost(test.first)

    let answer = try pair(test, host)
    let session = try test.lockdown()
    try session.startSession(host.record, certificate: "Host")

    #expect(answer["EscrowBag"]?.bytes?.count == 32)
    #expect(try session.value("DeviceName") == "Phone 1")
  }

  @Test func `H17: waits for a tap, twelve times, then is granted`() throws {
    let test = try TestFleet()
    try test.fleet.perform("trust", on: "1", ["mode": "ask", "answers": "12"])
    let host = try NewHost(test.first)

    let answers = try (0..<13).map { _ in try pair(test, host) }

    #expect(answers.prefix(12).allSatisfy { $0["Error"] == "PairingDialogResponsePending" })
    #expect(answers[12]["EscrowBag"] != nil)
  }

  @Test func `waits for ever while nobody taps, and is told when somebody has`() throws {
    let test = try TestFleet()
    try test.fleet.perform("trust", on: "1", ["mode": "ask"])
    let host = try NewHost(test.first)
    let heard = Heard(test.first.notifications)

    #expect(try pair(test, host)["Error"] == "PairingDialogResponsePending")
    try test.fleet.perform("trust", on: "1", ["mode": "accept"])

    #expect(heard.names == ["com.apple.mobile.lockdown.request_pair"])
    #expect(try pair(test, host)["EscrowBag"] != nil)
  }

  @Test func `is denied, and nothing is stored`() throws {
    let test = try TestFleet()
    try test.fleet.perform("trust", on: "1", ["mode": "deny"])
    let host = try NewHost(test.first)

    #expect(try pair(test, host)["Error"] == "UserDeniedPairing")
    #expect(try test.lockdown().error("StartSession", ["HostID": "NEW-HOST"]) == "InvalidHostID")
  }

  @Test func `H19: meets a locked phone`() throws {
    let test = try TestFleet(trusted: false)
    try test.fleet.perform("lock", on: "1")

    #expect(try pair(test, try NewHost(test.first))["Error"] == "PasswordProtected")
  }

  @Test(arguments: PhoneState.BeforeFirstUnlock.allCases)
  func `H19: before the first unlock leads to no pairing, whichever way the phone is then, and values are readable`(
    way: PhoneState.BeforeFirstUnlock
  ) throws {
    let test = try TestFleet(trusted: false)
    let host = try NewHost(test.first)
    _ = try pair(test, host)
    let pairings = test.first.state.with { $0.pairings }

    try test.fleet.perform("reboot", on: "1", ["first-unlock": way.rawValue])

    #expect(try pair(test, host)["Error"] == "PasswordProtected")
    #expect(try pair(test, try NewHost(test.first, hostID: "OTHER"))["Error"] == "PasswordProtected")
    #expect(test.first.state.with { $0.pairings } == pairings)
    #expect(try test.lockdown().value("ProductVersion") == "17.6")
    let proxy: [String: Plist] = ["Service": "com.apple.mobile.insecure_notification_proxy"]
    #expect(try test.lockdown().ask("StartService", proxy)["Port"] != nil)
  }

  @Test func `of a host already trusted is granted at once, with the same bag, even when locked`() throws {
    let test = try TestFleet(trusted: false)
    let host = try NewHost(test.first)
    let first = try pair(test, host)
    try test.fleet.perform("lock", on: "1")

    #expect(try pair(test, host)["EscrowBag"] == first["EscrowBag"])
  }

  @Test(arguments: ["RootCertificate", "HostCertificate", "DeviceCertificate"])
  func `is refused when a certificate is missing or none`(key: String) throws {
    let test = try TestFleet(trusted: false)
    var record = try #require(try NewHost(test.first).sent.dictionary)

    record[key] = .data(Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8))
    let junk = try test.lockdown().error("Pair", ["PairRecord": .dictionary(record)])
    record[key] = nil
    let missing = try test.lockdown().error("Pair", ["PairRecord": .dictionary(record)])

    #expect(junk == "InvalidPairRecord")
    #expect(missing == "InvalidPairRecord")
  }

  @Test func `is refused when the device certificate is over another phone's key`() throws {
    let test = try TestFleet(trusted: false)
    var record = try #require(try NewHost(test.first).sent.dictionary)
    record["DeviceCertificate"] = record["HostCertificate"]

    #expect(try test.lockdown().error("Pair", ["PairRecord": .dictionary(record)]) == "InvalidPairRecord")
    #expect(try test.lockdown().error("Pair") == "MissingPairRecord")
    #expect(try test.lockdown().error("Pair", ["PairRecord": [:]]) == "MissingHostID")
  }

  @Test func `is undone by Unpair`() throws {
    let test = try TestFleet(trusted: false)
    let host = try NewHost(test.first)
    _ = try pair(test, host)

    #expect(try test.lockdown().error("ValidatePair", ["PairRecord": host.sent]) == nil)
    #expect(try test.lockdown().error("Unpair", ["PairRecord": host.sent]) == nil)
    #expect(try test.lockdown().error("Unpair", ["PairRecord": host.sent]) == "InvalidHostID")
    #expect(try test.lockdown().error("ValidatePair", ["PairRecord": host.sent]) == "InvalidHostID")
    #expect(try test.lockdown().error("StartSession", ["HostID": "NEW-HOST"]) == "InvalidHostID")
  }

  @Test func `H18: is needed again when the phone has forgotten, and the mux's record stays as it is`() throws {
    let test = try TestFleet()
    let before = try test.record()

    try test.fleet.perform("trust", on: "1", ["mode": "forget"])
    let error = try test.lockdown().error("StartSession", ["HostID": before["HostID"] ?? ""])

    #expect(error == "InvalidHostID")
    #expect(try test.record() == before)
  }

  @Test func `is needed on neither side once they are made to know each other`() throws {
    let test = try TestFleet()
    try test.fleet.perform("untrust", on: "1")
    let id = Plist.string(test.first.udid.description)
    let missing = try test.mux().result(["MessageType": "ReadPairRecord", "PairRecordID": id])

    try test.fleet.perform("trust", on: "1")

    #expect(missing == 2)
    #expect(try test.session().value("PasswordProtected") == false)
  }
}

/// What was posted on a notification board while this lives.
private final class Heard: Sendable {
  private let seen: Names
  private let observation: NotificationBoard.Observation

  var names: [String] { seen.list.with { $0 } }

  init(_ board: NotificationBoard) {
    let seen = Names()
    self.seen = seen
    observation = board.observe { name in seen.list.with { $0.append(name) } }
  }

  private final class Names: Sendable {
    let list = Guarded([String]())
  }
}
