import DeviceBridge
import Fleet
import Testing
import Wire

@testable import Scenarios

@Suite struct `a step that asks whether a body is ready` {
  private let stage = Stage()

  private static func status(_ active: Bool, _ grant: String = "authorized") -> DoorAnswer.Ending {
    FakePhone.json(
      200, ["active": .boolean(active), "cameras": ["front"], "grants": ["camera": .string(grant)], "capturing": nil])
  }

  private func result(
    _ step: String = "{for: photo, camera: front}", _ status: [DoorAnswer.Ending] = [status(true)],
    _ change: (inout FakePhone.State) -> Void = { _ in }
  ) async throws -> Seen {
    let phone = FakePhone { state in
      state.answers["GET /status"] = status
      change(&state)
    }
    return await stage.run([try scenario(steps: "  - ready: \(step)")], on: phone)
  }

  @Test func `holds where all that a capture needs is there`() async throws {
    let seen = try await result()

    #expect(seen.verdict == .passed)
    #expect(seen.steps[0].expected == "status 200" && seen.steps[0].step == "ready for a front photo")
  }

  @Test func `fails with the sentence that the page would say`() async throws {
    let behind = try await result(status: false)
    let locked = try await result { $0.lock = .locked }
    let silent = try await result { $0.answers["GET /hello"] = [.refused] }

    #expect(
      behind.verdict == .failed && behind.message?.contains("can't take a front photo: its app is not in front") == true
    )
    #expect(locked.message?.contains("can't take a front photo: it is locked") == true)
    #expect(silent.message?.contains("can't take a front photo: it is silent/refused: nothing listens") == true)
  }

  private func result(status active: Bool) async throws -> Seen {
    try await result("{for: photo, camera: front}", [Self.status(active)])
  }

  @Test func `expects a refusal where it is told to, and keeps asking until then`() async throws {
    let refused = try await result(
      "{for: clip, camera: back}\n    expect: {status: 409, json: {error: {contains: no back camera}}}")
    let patient = try await result(
      "{for: photo, camera: front}\n    within: 5s",
      [Self.status(false), Self.status(true, "denied"), Self.status(true)])

    #expect(refused.verdict == .passed)
    #expect(patient.verdict == .passed)
  }

  @Test func `says nothing of the app where the phone is out of reach`() async throws {
    let seen = try await result("{for: photo, camera: front}", [.unreachable(.absent(UDID("x")))])

    #expect(seen.verdict == .error)
  }
}
