import Fleet
import Testing
import VirtualPhone
import Wire

@testable import Scenarios

extension OnVirtualPhones {
  /// The project's own scenarios: each holds on an app that keeps its contract, and fails on one that is broken in just that
  /// way.
  @Suite struct `the shipped scenarios` {
    /// Those that wait for the app's own clocks run on faster time; the others are held to a second here and there.
    private static let slow = [
      "before-first-unlock", "capture-deadline", "dead-listener", "nothing-kept-504", "reboot-recovery", "red-band",
    ]
    private static let quick = [
      "app-killed", "backgrounded", "build-manifest", "camera-busy", "clip-lifecycle", "locked-device",
      "no-camera-grant", "no-such-camera", "nothing-kept", "refusal-keeps-band", "refuse-first", "revive-outcomes",
      "suspended-app",
      "token-required",
    ]

    private static func scale(of names: [String]) -> Double { names == slow ? 20 : 4 }

    private func bench(_ ios: [String], phones: Int? = nil, of names: [String]) throws -> Bench {
      let bench = try Bench(ios, phones: phones, scale: Self.scale(of: names), token: "hunter2")
      for phone in bench.fleet.phones {
        try bench.fleet.perform("screen", on: phone.udid.description, ["scale": "8"])
      }
      return bench
    }

    @Test func `are these, and read without a problem`() throws {
      let here = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

      let all = try ScenarioFile.load(["/\(here)/scenarios"])

      #expect(all.map(\.name).sorted() == (Self.slow + Self.quick).sorted())
      #expect(all.allSatisfy { $0.file.hasSuffix("/\($0.name).yaml") && $0.about != nil && !$0.tags.isEmpty })
    }

    @Test(arguments: [slow, quick]) func `hold on phones of iOS 16 and 18`(_ names: [String]) async throws {
      let bench = try bench(["16.7", "18.5"], of: names)

      let seen = await bench.run(try names.map(Bench.shipped), on: try await bench.bodies())

      for finished in seen.finished {
        let expected: Verdict = finished.scenario == "nothing-kept-504" ? .quarantined : .passed
        #expect(finished.verdict == expected, "\(finished.scenario) on \(finished.udid): \(finished.message ?? "")")
      }
      #expect(seen.finished.count == 2 * names.count)
      #expect(!seen.lines.joined().contains("hunter2"))
      for phone in bench.fleet.phones { #expect(phone.app.isActive && phone.app.files.isEmpty) }
    }

    /// How an app is broken, and where the scenario finds it out.
    struct Broken: Sendable, CustomTestStringConvertible {
      var scenario: String
      var by: String
      var line: Int
      var part: String
      var testDescription: String { "\(scenario) by \(by)" }
      init(_ scenario: String, by: String, _ line: Int, _ part: String) {
        (self.scenario, self.by, self.line, self.part) = (scenario, by, line, part)
      }
    }

    private static let rows = [
      Broken(
        "app-killed", by: "break what=no-door-at-start", 10, "expected the outcome revived; came launched-no-answer"),
      Broken("backgrounded", by: "break what=no-409", 8, "expected status 409"),
      Broken("backgrounded", by: "break what=wrong-sentence", 8, "error is \"something went wrong\""),
      Broken("before-first-unlock", by: "break what=no-door-at-start", 12, "expected the door to answer"),
      Broken("build-manifest", by: "install-app carries=UIBackgroundModes", 6, "UIBackgroundModes is for everything"),
      Broken("camera-busy", by: "break what=busy-not-refused", 11, "expected status 423"),
      Broken("capture-deadline", by: "break what=no-504", 8, "expected status 504"),
      Broken("capture-deadline", by: "break what=stays-busy", 10, "capturing is \"front\""),
      Broken("clip-lifecycle", by: "break what=stays-busy", 14, "capturing is \"front\""),
      Broken("clip-lifecycle", by: "break what=keeps-files", 16, "expected no file tmp/clip-*.mov"),
      Broken("dead-listener", by: "break what=no-self-heal", 10, "expected the door to answer"),
      Broken("locked-device", by: "break what=no-409", 9, "expected status 409"),
      Broken("locked-device", by: "break what=always-active", 11, "active is true"),
      Broken("no-camera-grant", by: "break what=no-403", 10, "expected status 403"),
      Broken("no-such-camera", by: "break what=no-503", 8, "expected status 503"),
      Broken("nothing-kept", by: "break what=keeps-files", 12, "expected no file tmp/clip-*.mov"),
      Broken("reboot-recovery", by: "break what=no-door-at-start", 11, "expected the door to answer"),
      Broken("red-band", by: "break what=no-band", 11, "expected the red band at the top of the screen"),
      Broken("red-band", by: "break what=band-stays", 15, "expected no red band"),
      Broken("refusal-keeps-band", by: "break what=refusal-drops-band", 17, "expected the red band at the top"),
      Broken("refuse-first", by: "break what=no-503", 11, "expected status 503"),
      Broken("refuse-first", by: "break what=boasts-in-status", 9, "expected status 409"),
      Broken("refuse-first", by: "break what=no-409", 16, "expected status 409"),
      Broken("refuse-first", by: "break what=no-403", 22, "expected status 403"),
      Broken("revive-outcomes", by: "break what=no-door-at-start", 9, "expected the outcome revived"),
      Broken("suspended-app", by: "break what=deaf-after-stop", 12, "expected the door to answer"),
      Broken("token-required", by: "break what=no-401", 8, "expected status 401"),
    ]

    @Test(arguments: [slow, quick]) func `fail on an app that is broken in just that way`(_ names: [String])
      async throws
    {
      let rows = Self.rows.filter { names.contains($0.scenario) }
      let bench = try bench(["16.7", "18.5"], phones: rows.count, of: names)
      for (phone, row) in zip(bench.fleet.phones, rows) {
        let words = row.by.split(separator: " ").map(String.init)
        let values = words.dropFirst().map { $0.split(separator: "=").map(String.init) }
        try bench.fleet.perform(
          words[0], on: phone.udid.description, Dictionary(values.map { ($0[0], $0[1]) }, uniquingKeysWith: { $1 }))
      }
      let phones = bench.fleet.phones.map(\.udid)

      let seen = await bench.run(
        try names.map(Bench.shipped), on: try await bench.bodies(),
        options: { options in
          options.selects = { scenario, body in
            phones.firstIndex(of: body.udid).map { rows[$0].scenario == scenario.name } ?? false
          }
        })

      #expect(seen.finished.count == rows.count)
      for (udid, row) in zip(phones, rows) {
        let finished = try #require(seen.finished.first { $0.udid == udid })
        #expect(finished.verdict == .failed, "\(row.testDescription): \(finished.message ?? "")")
        #expect(finished.message?.contains(row.part) == true, "\(row.testDescription): \(finished.message ?? "")")
        #expect(finished.line == row.line, "\(row.testDescription): \(finished.message ?? "")")
      }
    }

    @Test func `call a known fault apart, and say when it is mended`() async throws {
      let bench = try bench(["16.7"], of: Self.slow)
      // An app that removes the file by itself: its camera is never stuck.
      let plan = try scenario(
        """
        scenario: mended
        quarantine: {reason: the file stays}
        steps:
          - files: {none: "tmp/clip-*.mov"}
        """)

      let seen = await bench.run([plan], on: try await bench.bodies())

      #expect(seen.verdict == .quarantined)
      #expect(seen.message == "quarantined, but passes")
    }
  }
}
