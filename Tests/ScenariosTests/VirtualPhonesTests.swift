import DeviceBridge
import Fleet
import Testing
import VirtualPhone
import Wire

@testable import Scenarios

/// Suites whose phones and scenarios run on one fast clock: one at a time, since each needs the processors for itself.
@Suite(.serialized) enum OnVirtualPhones {}

extension OnVirtualPhones {
  @Suite struct `scenarios on virtual phones` {
    @Test func `pass on every iOS there is, phones side by side`() async throws {
      let bench = try Bench(["15.8", "16.7", "17.6", "18.5", "26.1"], scale: 2)
      let scenarios = try ["backgrounded", "camera-busy"].map(Bench.shipped)

      let seen = await bench.run(scenarios, on: try await bench.bodies())

      #expect(seen.result.summary == "10 of 10 judged, on 5 phones: 10 passed")
      #expect(seen.finished.compactMap(\.message) == [])
      #expect(seen.finished.allSatisfy { $0.recoverySeconds != nil })
      #expect(!seen.lines.joined().contains("\u{FFD8}"))
    }

    @Test func `are an error where the phone denies what the lab claims`() async throws {
      let bench = try Bench(["18.5"], scale: 8)
      // The app says that it is in front whatever happens.
      try bench.fleet.perform("break", on: "1", ["what": "always-active"])

      let seen = await bench.run([try Bench.shipped("backgrounded")], on: try await bench.bodies())

      #expect(seen.verdict == .error)
      #expect(seen.message?.contains("should have made it in-background, but hello says active: true") == true)
    }

    @Test func `reach the background and the front through the bridge alone on iOS 16`() async throws {
      let bench = try Bench(["16.7"], scale: 2)
      let bodies = try await bench.bodies { configuration in
        configuration.arrange = [:]
        // The decoy has to be debuggable there; the kiosk's own kind of app is.
        configuration.app.decoy = "com.example.decoy"
      }
      try bench.fleet.perform("background", on: "1")

      let seen = await bench.run(
        [
          try scenario(
            steps: "  - arrange: in-front\n  - request: POST /photo?camera=front\n    expect: {status: 200}",
            recovers: "  - door: answers")
        ], on: bodies)

      #expect(seen.verdict == .passed)
      #expect(seen.steps[0].came == "hello says active: true, by launching com.example.kiosk over the cable")
    }

    @Test func `are skipped where the bridge cannot launch and the lab names nothing`() async throws {
      let bench = try Bench(["16.7"], scale: 4)
      let bodies = try await bench.bodies { $0.arrange = [:] }
      try bench.fleet.perform("launch-fault", on: "1", ["app": "com.apple.Preferences", "kind": "not-debuggable"])

      let seen = await bench.run([try Bench.shipped("backgrounded")], on: bodies)

      #expect(seen.verdict == .skipped)
      #expect(
        seen.message?.hasPrefix("\(bodies[0].title) could not be brought to in-background: ") == true,
        "\(seen.message ?? "")")
      #expect(seen.result.exit.number == 4)
    }

    @Test func `lock a phone, see it refuse, and unlock it again`() async throws {
      let bench = try Bench(["17.6"], scale: 2)
      let plan = try scenario(
        steps: """
            - arrange: locked
            - request: POST /photo?camera=front
              expect: {status: 409}
            - until: {lock: locked}
              within: 2s
          """,
        recovers: """
            - lock: unlocked
            - arrange: in-front
            - request: POST /photo?camera=front
              expect: {status: 200}
              retry-within: 10s
          """)

      let seen = await bench.run([plan], on: try await bench.bodies())

      #expect(seen.finished.map(\.message) == [nil])
      #expect(seen.verdict == .passed)
    }

    @Test func `harm no other phone when one is pulled out in the middle`() async throws {
      let bench = try Bench(["16.7", "17.6"], scale: 2)
      let fleet = bench.fleet
      let plan = try scenario(
        steps: """
            - request: GET /hello
            - start: clip
              request: POST /clip?camera=back&seconds=2
            - until: {request: GET /status, expect: {json: {capturing: back}}}
              within: 5s
            - finish: clip
              expect: {status: 200}
          """, recovers: "  - door: answers\n    within: 5s")

      let seen = await bench.run([plan], on: try await bench.bodies()) { event in
        guard case .stepFinished(let step) = event.happening, step.step.hasPrefix("until"),
          step.udid == fleet.phones[0].udid
        else { return }
        try? fleet.perform("detach", on: "1")
      }

      #expect(seen.finished.first { $0.udid == fleet.phones[0].udid }?.verdict == .error)
      #expect(seen.finished.first { $0.udid == fleet.phones[1].udid }?.verdict == .passed)
      #expect(seen.result.exit.number == 3)
    }

    @Test func `brings an app back that was in the background before`() async throws {
      let bench = try Bench(["16.7"], scale: 4)
      try bench.fleet.perform("background", on: "1")

      let seen = await bench.run([try Bench.shipped("backgrounded")], on: try await bench.bodies())

      #expect(seen.finished.map(\.message) == [nil])
      #expect(bench.fleet.phones[0].app.isActive)
    }

    @Test(arguments: [("mux-quit", "3s"), ("detach", "2s")])
    func `bring the app back when the mux or the cable is away during the undo`(
      _ action: String, _ span: String
    ) async throws {
      let bench = try Bench(["15.8"])
      let fleet = bench.fleet
      let bodies = try await bench.bodies { $0.arrange[.inFront] = nil }

      let seen = await bench.run([try Bench.shipped("backgrounded")], on: bodies) { event in
        guard case .stepFinished(let step) = event.happening, step.step == "request GET /status" else { return }
        try? fleet.perform(action, on: "1", ["for": span])
      }

      #expect(seen.finished.map(\.message) == [nil])
      #expect(fleet.phones[0].app.isActive)
    }

    @Test(arguments: ["password-protected", "session-only"])
    func `are skipped before the first unlock, where only a person unlocks`(_ kind: String) async throws {
      let bench = try Bench(["16.7"], scale: 4)
      let bodies = try await bench.bodies { $0.arrange = [:] }
      try bench.fleet.perform("reboot", on: "1", ["first-unlock": kind])

      let seen = await bench.run([try Bench.shipped("backgrounded")], on: bodies)

      #expect(seen.verdict == .skipped, "\(seen.message ?? "")")
      #expect(seen.message?.contains("nothing brings \(bodies[0].title) to unlocked.") == true)
      #expect(seen.result.exit.number == 4)
    }

    @Test func `send the door's token`() async throws {
      let bench = try Bench(["18.5"], scale: 2, token: "hunter2")
      let plan = try scenario(
        steps: """
            - request: GET /hello
              expect: {status: 200}
            - request: GET /hello
              token: none
              expect: {status: 401}
            - request: GET /hello
              token: wrong
              expect: {status: 401, json: {error: {contains: token}}}
          """)

      let seen = await bench.run([plan], on: try await bench.bodies { $0.door.tokenFile = "token" })

      #expect(seen.finished.map(\.message) == [nil])
      #expect(!seen.lines.joined().contains("hunter2"))
    }

    @Test func `H51: hand the app its texts as they are typed`() async throws {
      let bench = try Bench(["16.7"])
      let plan = try scenario(
        steps: "  - launch: {environment: {FLAG: YES, COUNTRY: NO, MODE: on, LEVEL: 010, RATE: 1e3}, fresh: true}")

      let seen = await bench.run([plan], on: try await bench.bodies())

      #expect(seen.finished.map(\.message) == [nil])
      let launched = bench.fleet.journal.entries().compactMap { $0.details["environment"]?.object }.last
      #expect(
        launched?.filter { ["FLAG", "COUNTRY", "MODE", "LEVEL", "RATE"].contains($0.key) } == [
          "FLAG": "YES", "COUNTRY": "NO", "MODE": "on", "LEVEL": "010", "RATE": "1e3",
        ])
    }

    @Test func `run as fast as the phones' time does`() async throws {
      let bench = try Bench(["18.5"], scale: 10)
      let plan = try scenario(
        steps: "  - request: POST /clip?camera=back&seconds=30\n    expect: {status: 200, type: video/quicktime}")

      let start = ContinuousClock.now
      let seen = await bench.run([plan], on: try await bench.bodies())

      #expect(seen.verdict == .passed)
      #expect(seen.steps[0].seconds > 30)
      #expect(ContinuousClock.now - start < .seconds(20))
    }
  }
}
