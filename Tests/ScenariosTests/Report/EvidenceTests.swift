import DeviceBridge
import Fleet
import Testing
import Transport
import Wire

@testable import Scenarios

@Suite struct `what a run tells its reports` {
  @Test func `are each step's exchanges with the door, in words, and those of the undo apart`() async throws {
    let plan = try scenario(
      steps: """
          - request: POST /photo?camera=front
            expect: {status: 200}
          - request: POST /x
            body: '{"a": 1}'
            expect: {status: 404}
        """)

    let seen = await Stage().run([plan], on: FakePhone())

    #expect(seen.steps.map { $0.exchanges.map(\.request) } == [["POST /photo?camera=front"], [#"POST /x {"a": 1}"#]])
    #expect(seen.steps.first?.exchanges.first?.answer == "status 200, image/jpeg, 16 bytes,")
    #expect(seen.finished.first?.exchanges.isEmpty == true)
    #expect(seen.lines.allSatisfy { !$0.contains("exchanges") })
  }

  @Test func `are the first and the last exchanges where there are many`() async throws {
    let plan = try scenario(
      steps: """
          - until: {request: GET /x, expect: {status: 200}}
            within: 30s
            every: 1s
        """)

    let step = await Stage().run([plan], on: FakePhone()).steps.first

    #expect(step?.exchanges.count == 16)
    #expect((step?.exchangesLeftOut ?? 0) > 5)
    #expect(step?.exchanges.prefix(5).map(\.at).first == 0)
  }

  @Test func `hold no secret`() async throws {
    var stage = Stage()
    stage.options.secrets = [Secret("hunter2")]
    let phone = FakePhone { $0.answers["POST /x"] = [FakePhone.json(200, ["echo": "hunter2"])] }
    let plan = try scenario(
      steps: """
          - request: POST /x
            body: hunter2
            expect: {status: 200}
        """)

    let exchange = await stage.run([plan], on: phone).steps.first?.exchanges.first

    #expect(exchange?.request == "POST /x •••")
    #expect(exchange?.answer.contains("•••") == true && exchange?.answer.contains("hunter2") == false)
  }

  @Test func `are the lines of the phone's log around a failure, where the log is kept`() async throws {
    let bench = try Bench(["16.7"], scale: 10)
    let plan = try scenario(
      steps: """
          - launch: {fresh: true}
          - request: GET /nowhere
            expect: {status: 200}
            retry-within: 2s
        """)
    let bodies = try await bench.bodies()

    let kept = await bench.run([plan], on: bodies, keepsLog: true)
    let plain = await bench.run([plan], on: bodies)

    #expect(kept.verdict == .failed && plain.verdict == .failed)
    #expect(kept.finished.first?.log.isEmpty == false)
    #expect(plain.finished.first?.log.isEmpty == true)
  }

  @Test func `is no log where everything held`() async throws {
    let bench = try Bench(["16.7"], scale: 10)
    let plan = try scenario(steps: "  - launch: {fresh: true}")

    let seen = await bench.run([plan], on: try await bench.bodies(), keepsLog: true)

    #expect(seen.verdict == .passed)
    #expect(seen.finished.first?.log.isEmpty == true)
  }
}
