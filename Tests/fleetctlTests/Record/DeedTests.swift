import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@testable import Fleet

@Suite(.serialized) struct `what people do to a body` {
  private func record(_ phones: TestPhones) -> RecordReader { RecordReader(phones.folder.file("state/fleet.sqlite")) }

  private func begun(_ phones: TestPhones) async throws -> Record {
    try await Record.open(phones.folder.file("state/fleet.sqlite")).record
  }

  @Test func `is written down with who did it, why, and what came of it`() async throws {
    let phones = try TestPhones(1)
    try await begun(phones).close(within: .seconds(20))
    let udid = phones.udid(1)
    let file = phones.folder.write(Package.bytes(version: "2", build: "7"), to: "kiosk.ipa")

    for words in [
      ["hold", udid, "--reason", "new battery", "--for", "10ms"], ["launch", udid], ["revive", udid], ["mount", udid],
      ["install", udid, file], ["pair", udid], ["unpair", udid],
    ] { _ = await Fleetctl.run(words, environment: phones.environment) }

    let actions = try await record(phones).actions()
    #expect(actions.map(\.kind) == [.hold, .launch, .revive, .mount, .install, .pair, .unpair])
    #expect(actions.first?.reason == "new battery")
    #expect(actions.first?.result == "held for 10 ms")
    #expect(actions[1].result == "accepted" && actions[2].result == "up")
    #expect(actions[5].result == "trusted" && actions[6].result == "both-ends")
    #expect(
      actions.allSatisfy { $0.udid == phones.fleet.phones[0].udid && $0.user != nil && $0.result?.isEmpty == false })
  }

  @Test func `begins no record, and fails nothing where one can't be written`() async throws {
    let phones = try TestPhones(1)

    let none = await phones.run("launch", phones.udid(1))
    let names = TestFolder.names(in: phones.folder.file("state"))
    mkdir(phones.folder.file("state"), 0o700)
    _ = phones.folder.write("", to: "state/fleet.sqlite")
    let other = try Database(phones.folder.file("state/fleet.sqlite"), .writing, patience: .seconds(1))
    try other.run("CREATE TABLE customers (name TEXT)")
    let foreign = await phones.run("launch", phones.udid(1))

    #expect(none.code == 0 && !names.contains("fleet.sqlite"))
    #expect(foreign.code == 0)
    #expect(foreign.output.err.contains("what was done is not in the record"))
  }

  @Test func `waits no longer than two seconds for a record that somebody else holds`() async throws {
    let phones = try TestPhones(1)
    try await begun(phones).close(within: .seconds(20))
    let other = try Database(phones.folder.file("state/fleet.sqlite"), .writing, patience: .seconds(1))
    try other.run("BEGIN IMMEDIATE")

    let done = await Fleetctl.run(["launch", phones.udid(1)], environment: phones.environment, within: .seconds(15))

    #expect(done.code == 0)
    #expect(done.output.err.contains("has been locked for"))
  }

  @Test func `is also asked of a phone that only the record knows: it is absent, not unknown`() async throws {
    let phones = try TestPhones(1)
    let record = try await begun(phones)
    try await record.store(LedgerEntry(row: RecordedState.row(1, OutcomeWords(.up))), within: .seconds(20))
    try await record.close(within: .seconds(20))

    #expect(await phones.run("hello", RecordedState.hall.description).code == 3)
    #expect(await phones.run("hello", RecordedState.stairs.description).code == 2)
  }
}
