import Fleet
import Testing
import Transport
import VirtualPhone
import Wire

@testable import Scenarios

/// A lab whose other commands all work.
private struct WillingLab: LabMeans {
  let phones: VirtualLab
  func run(_ command: LabCommand, by deadline: Deadline) async -> LabOutcome {
    command.argv[0] == "virtual"
      ? await phones.run(command, by: deadline) : LabOutcome(ending: .exited(0), output: "done\n")
  }
}

extension OnVirtualPhones {
  @Suite struct `docs/scenarios.md` {
    private static let text = (try? ProjectFile.text("docs/scenarios.md")) ?? ""
    private static let blocks = FencedBlock.all(in: text, of: "yaml")

    /// A block as a scenario file: a list of steps becomes one.
    private static func scenario(_ block: FencedBlock) throws -> Scenario? {
      if block.text.hasPrefix("# fleet.yaml") { return nil }
      guard !block.text.hasPrefix("scenario:") else {
        return try ScenarioFile.parse(Array(block.text.utf8), file: "docs/scenarios.md")
      }
      let steps = block.text.split(separator: "\n").map { "  \($0)\n" }.joined()
      let text = "scenario: line \(block.line)\nsteps:\n\(steps)recovers:\n  - door: answers\n    within: 20s\n"
      return try ScenarioFile.parse(Array(text.utf8), file: "docs/scenarios.md")
    }

    @Test func `has examples that hold on a phone, every one`() async throws {
      let bench = try Bench(["16.7"], scale: 4, token: "hunter2")
      try bench.fleet.perform("screen", on: "1", ["scale": "8"])
      let scenarios = try Self.blocks.compactMap(Self.scenario)
      let person = FakeOperator { _ in true }

      let seen = await bench.run(
        scenarios, on: try await bench.bodies(), options: { $0.attendant = person }, lab: WillingLab(phones: bench.lab))

      #expect(scenarios.count > 18)
      for finished in seen.finished {
        #expect(finished.verdict == .passed, "\(finished.scenario): \(finished.message ?? "")")
      }
      #expect(seen.finished.count == scenarios.count)
      #expect(person.log == ["Put \(try #require(await bench.bodies().first).title) on the test stand"])
    }

    @Test func `writes fleet.yaml as it is read`() throws {
      let blocks = Self.blocks.filter { $0.text.hasPrefix("# fleet.yaml") }

      let read = try FleetConfiguration.parse(Array(try #require(blocks.first).text.utf8), file: "fleet.yaml")

      #expect(read.arrange[.cameraStuck]?.undo?.command == ["camera-jig", "release", "{udid}"])
      #expect(read.arrange[.listenerDead]?.request == "POST /test/close-listener")
    }

    @Test func `has every step, state and key`() {
      let forms =
        [Forms.scenario, Forms.expectation, Forms.matcher, Forms.size, Forms.jpeg, Forms.quarantine]
        + StepKind.allCases.map(\.form)
      let words = forms.flatMap(\.keys) + BodyState.allCases.map(\.rawValue) + Verdict.allCases.map(\.rawValue)

      for word in words { #expect(Self.text.contains(word), "docs/scenarios.md says nothing of \(word)") }
      for kind in StepKind.allCases {
        #expect(
          Self.text.contains("\n### \(kind.rawValue)\n") || Self.text.contains(" and \(kind.rawValue)\n")
            || Self.text.contains("### \(kind.rawValue) and "), "no heading for \(kind.rawValue)")
      }
    }
  }
}
