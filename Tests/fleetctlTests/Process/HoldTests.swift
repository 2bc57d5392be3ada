import Fleet
import Glibc
import Testing
import VirtualPhone
import Wire

@testable import fleetctl

@Suite(.serialized) struct `fleetctl hold` {
  private static let plain = "scenario: s\nsteps:\n  - request: GET /hello\n"

  private func run(_ phones: TestPhones) async -> Fleetctl.Done {
    await phones.run("run", phones.folder.write(Self.plain, to: "s.yaml"), "--json", "--lock-wait", "100ms")
  }

  @Test func `keeps runs off the phone, and says why, until it is told to end`() async throws {
    let phones = try TestPhones(1)
    let child = Fleetctl.start(
      ["hold", phones.udid(1), "--reason", "new battery", "--json"], environment: phones.environment)
    #expect(await child.prints { $0.out.contains(#""reason":"new battery""#) })

    let held = await run(phones)
    child.signal(SIGINT)
    let ending = await child.ending(within: .seconds(2))
    let free = await run(phones)

    #expect(held.code == 3 && held.output.out.contains("held by ") && held.output.out.contains(": new battery"))
    #expect(ending == .exited(130))
    #expect(free.code == 0, "\(free.output.err)")
  }

  @Test func `ends with whoever holds it, however that ends`() async throws {
    let phones = try TestPhones(1)
    let child = Fleetctl.start(["hold", phones.udid(1), "--reason", "x"], environment: phones.environment)
    #expect(await child.prints { $0.out.contains("is held until Ctrl-C") })

    child.signal(SIGKILL)
    _ = await child.ending()

    #expect(await run(phones).code == 0)
  }

  @Test func `lasts as long as its command, and ends as that does`() async throws {
    let phones = try TestPhones(1)
    func hold(_ command: String...) async -> Fleetctl.Done {
      await Fleetctl.run(
        ["hold", phones.udid(1), "--reason", "x", "--"] + command, environment: phones.environment)
    }

    let good = await hold("sh", "-c", "echo $FLEETCTL_UDID")
    let bad = await hold("false")
    let none = await hold("no-such-program")

    #expect(good.code == 0 && good.output.out.contains(phones.udid(1)))
    #expect(bad.code == 1)
    #expect(none.code == 2 && none.output.err.contains("'no-such-program' could not be started"))
  }

  @Test func `ends its command with itself, also when its time is over`() async throws {
    let phones = try TestPhones(1)
    let timed = await phones.run("hold", phones.udid(1), "--reason", "x", "--for", "200ms", "--", "sleep", "60")
    let child = Fleetctl.start(
      ["hold", phones.udid(1), "--reason", "x", "--", "sleep", "60"], environment: phones.environment)
    #expect(await child.prints { $0.out.contains("is held") })

    child.signal(SIGTERM)

    #expect(timed.code == 1)
    #expect(await child.ending(within: .seconds(2)) == .exited(143))
    #expect(await phones.run("hold", phones.udid(1), "--reason", "x", "--for", "10ms").code == 0)
  }

  @Test func `wants a reason, and is refused where somebody else holds the phone`() async throws {
    let phones = try TestPhones(1)
    let lease = try await phones.hold(1, as: .current(.hold, reason: "cleaning"))

    let silent = await phones.run("hold", phones.udid(1))
    let second = await phones.run("hold", phones.udid(1), "--reason", "x", "--lock-wait", "50ms")
    lease?.release()

    #expect(silent.code == 2 && silent.output.err.contains("--reason"))
    #expect(second.code == 1 && second.output.err.contains(": cleaning"))
  }
}
