import DeviceBridge
import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `what Prometheus reads` {
  private func metrics(_ bodies: [BodyPresent]) async throws -> [String] {
    var stage = StageView.Stage()
    stage.bodies = bodies
    stage.round = RoundPresent(number: 7, at: StageView.now - .seconds(3), took: .milliseconds(1_500))
    let served = try ServedPage(stage)
    let answer = try await served.get("/metrics")
    #expect(answer.status == 200 && answer.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8")
    return answer.text.split(separator: "\n").map(String.init)
  }

  private let fleet = [
    StageView.body(1, "hall", OutcomeWords(.up)) { $0.revivals = 3 },
    StageView.body(2, "stairs", OutcomeWords(.locked, .passcode)) {
      $0.silent = .milliseconds(250_500)
      $0.lock = .locked
    },
    StageView.body(3, nil, nil) { $0.lock = .unknown },
    StageView.body(4, "shelf", OutcomeWords(.up)) { $0.outOfService = "battery" },
  ]

  @Test func `is how each body is, in base units`() async throws {
    let lines = try await metrics(fleet)

    let hall = "body=\"hall\",udid=\"\(StageView.udid(1))\""
    let stairs = "body=\"stairs\",udid=\"\(StageView.udid(2))\""
    for line in [
      "fleetctl_build_info{version=\"1.2.3\"} 1", "fleetctl_host_well 1", "fleetctl_rounds_well 1", "fleetctl_bodies 3",
      "fleetctl_body_well{\(hall)} 1", "fleetctl_body_well{\(stairs)} 0",
      "fleetctl_body_outcome{\(stairs),outcome=\"locked\",reason=\"passcode\"} 1",
      "fleetctl_body_silence_seconds{\(stairs)} 250.5", "fleetctl_body_silence_seconds{\(hall)} 0",
      "fleetctl_body_locked{\(stairs)} 1", "fleetctl_body_locked{\(hall)} 0",
      "fleetctl_body_revivals_total{\(hall)} 3", "fleetctl_last_round_duration_seconds 1.5",
      "fleetctl_last_round_timestamp_seconds 1797755397",
    ] { #expect(lines.contains(line), "\(line)") }
    // Unknown is not unlocked, and what is out of service is neither well nor ill.
    #expect(!lines.contains { $0.hasPrefix("fleetctl_body_locked") && $0.contains("\(StageView.udid(3))") })
    #expect(!lines.contains { $0.hasPrefix("fleetctl_body_well") && $0.contains("shelf") })
  }

  @Test func `names each family once, with its help and its kind, and its samples behind`() async throws {
    let lines = try await metrics(fleet)

    var families: [String] = []
    for line in lines {
      if let help = line.wholeMatch(of: /# HELP ([a-z_]+) .+/) {
        families.append(String(help.1))
      } else if let type = line.wholeMatch(of: /# TYPE ([a-z_]+) (gauge|counter)/) {
        #expect(String(type.1) == families.last)
        #expect(type.1.hasSuffix("_total") == (type.2 == "counter"), "\(line)")
      } else {
        let sample = try #require(
          line.wholeMatch(of: /([a-z_]+)(\{([a-z]+="(\\.|[^"\\])*",?)+\})? -?[0-9][0-9.e+-]*/), "\(line)")
        #expect(String(sample.1) == families.last)
      }
    }
    #expect(Set(families).count == families.count && families.count > 20)
  }

  @Test func `has as many series for a body whatever the phone calls itself, and whatever it says`() async throws {
    let odd = StageView.body(1, "a\"b\\c\nd\u{202E}", OutcomeWords(.up)) {
      $0.deviceName = String(repeating: "\u{1B}[31m\"}\n", count: 512)
      $0.detail = "detail\n# HELP"
      $0.usbPort = "1-2\"} 5"
    }

    let plain = try await metrics([StageView.body(1, "hall", OutcomeWords(.up))])
    let lines = try await metrics([odd])

    #expect(lines.count == plain.count)
    #expect(
      lines.contains {
        $0.hasPrefix("fleetctl_body_well{body=\"a\\\"b\\\\c\u{FFFD}d\u{FFFD}\",udid=")
          || $0.hasPrefix("fleetctl_body_well{body=\"a\\\"b\\\\c d\u{FFFD}\",udid=")
      })
    #expect(!lines.joined().contains("[31m"))
  }
}
