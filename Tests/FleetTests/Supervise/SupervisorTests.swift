import DeviceBridge
import Fleet
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `a supervisor` {
  @Test func `writes up for a phone that answers, and nothing more`() async throws {
    let bed = try SupervisorBed("16.7")
    try await bed.start()

    #expect(await bed.rows("up"))
    #expect(await bed.rounds(3))
    #expect(bed.words() == ["up"])
  }

  @Test(arguments: ["16.7", "18.5"])
  func `brings an app back that has died, once`(_ ios: String) async throws {
    let bed = try SupervisorBed(ios)
    try await bed.start()
    #expect(await bed.rows("up"))

    try bed.do("kill-app")

    #expect(await bed.rows("up", "revived"), "\(bed.rows.with { $0.map(\.json.line) })")
    #expect(await bed.rounds(2))
    #expect(bed.launches() == 1)
  }

  @Test func `says locked once, and revives after the unlock`() async throws {
    let bed = try SupervisorBed("18.5")
    try await bed.start()
    #expect(await bed.rows("up"))

    try bed.do("lock")
    try bed.do("kill-app")
    #expect(await bed.rows("up", "locked/passcode"))
    #expect(bed.launches() == 0)
    try bed.do("unlock")

    #expect(await bed.rows("up", "locked/passcode", "revived"))
  }
}
