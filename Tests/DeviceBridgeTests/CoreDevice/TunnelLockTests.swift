import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `the lock of a phone with a tunnel` {
  private let kiosk = LaunchRequest(bundle: "com.example.kiosk")

  @Test func `is read without a tunnel`() async throws {
    let bench = try Bench("18.5")
    let lane = try await bench.lane()

    let unlocked = await lane.lock(by: .patient)
    try bench.do("lock")
    let locked = await lane.lock(by: .patient)

    #expect(unlocked.state == .unlocked && locked.state == .locked)
    #expect(bench.count("tunnel-opened") == 0)
  }

  @Test func `stops no launch where lockdown's yes means only that there is a passcode`() async throws {
    let bench = try Bench("18.5")
    try bench.do("set-value", ["PasswordProtected": "true", "type": "boolean"])

    #expect(try await bench.lane().ending(of: kiosk) == nil)
  }

  @Test(arguments: ["silent", "shape", "close", "error"])
  func `is lockdown's before a launch, where the tunnel's answer is none`(_ kind: String) async throws {
    let bench = try Bench("18.5")
    try bench.do("lock")
    try bench.do("coredevice-fault", ["kind": kind, "call": "getlockstate"])

    #expect(try await bench.lane().ending(of: kiosk)?.refusal == .locked)
    #expect(bench.count("coredevice-launch") == 0)
  }
}
