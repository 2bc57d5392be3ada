import DeviceBridge
import Wire

/// The fleet as Prometheus reads it. Labels are a body's name and UDID, and an outcome's words: nothing that a phone says.
struct FleetMetrics {
  var bodies: [BodyPresent]
  var host: HostPresent
  var round: RoundPresent?
  /// What `/healthz` says.
  var roundsAreWell: Bool
  var pages: Int
  var pings: (sent: Int, failed: Int)?
  var process: ProcessFigures
  var version: String

  static let type = "text/plain; version=0.0.4; charset=utf-8"

  var text: String {
    var text = PrometheusText()
    text.family(
      "fleetctl_build_info", .gauge, "Always 1; the version is its label.", [([("version", version)], 1)])
    addHost(&text)
    addBodies(&text)
    text.family("fleetctl_page_streams", .gauge, "Live pages that are open.", Double(pages))
    if let pings {
      text.family("fleetctl_pings_total", .counter, "Pings sent after completed rounds.", Double(pings.sent))
      text.family(
        "fleetctl_ping_failures_total", .counter, "Pings that were not answered with a 2xx.", Double(pings.failed))
    }
    process.add(to: &text)
    return text.text
  }

  private func addHost(_ text: inout PrometheusText) {
    text.family(
      "fleetctl_host_well", .gauge, "1 where nothing of the host keeps it from its phones, else 0.",
      host.words.kind == .up ? 1 : 0)
    text.family(
      "fleetctl_host_outcome", .gauge, "Always 1; the host's outcome is its labels.",
      [([("outcome", host.words.kind.rawValue), ("reason", host.words.reason?.rawValue ?? "")], 1)])
    text.family(
      "fleetctl_unstored_entries", .gauge, "Rows and notes that wait for the record to take them.",
      Double(host.unstored))
    text.family(
      "fleetctl_rounds_well", .gauge, "1 where a round was completed lately, as /healthz says, else 0.",
      roundsAreWell ? 1 : 0)
    text.family("fleetctl_rounds_total", .counter, "Completed rounds since the start.", Double(round?.number ?? 0))
    text.family(
      "fleetctl_last_round_timestamp_seconds", .gauge, "When the latest round was completed.", round?.at.inSeconds)
    text.family(
      "fleetctl_last_round_duration_seconds", .gauge, "How long the latest round took.", round?.took.inSeconds)
  }

  private func addBodies(_ text: inout PrometheusText) {
    func each(_ value: (BodyPresent) -> Double?) -> [(labels: [(String, String)], value: Double?)] {
      bodies.map { (Self.labels($0), value($0)) }
    }
    func is1(_ holds: Bool) -> Double { holds ? 1 : 0 }
    let supervised = bodies.filter { $0.outOfService == nil }
    text.family("fleetctl_bodies", .gauge, "Bodies that are supervised.", Double(supervised.count))
    text.family(
      "fleetctl_body_well", .gauge, "1 where the outcome is up, or revived and not crash-looping, else 0.",
      each { $0.outOfService == nil ? is1($0.isWell) : nil })
    text.family(
      "fleetctl_body_outcome", .gauge, "Always 1; the outcome is its labels.",
      bodies.map { body in
        (
          Self.labels(body) + [
            ("outcome", body.words?.kind.rawValue ?? ""), ("reason", body.words?.reason?.rawValue ?? ""),
          ], body.words == nil || body.outOfService != nil ? nil : 1
        )
      })
    text.family(
      "fleetctl_body_outcome_since_timestamp_seconds", .gauge, "When the outcome became so.",
      each { $0.since?.inSeconds })
    text.family(
      "fleetctl_body_silence_seconds", .gauge, "Observed silence of the door; 0 while it answers.",
      each { $0.outOfService == nil ? $0.silent?.inSeconds ?? 0 : nil })
    text.family(
      "fleetctl_body_last_answer_timestamp_seconds", .gauge, "When the door answered last.",
      each { $0.lastAnswer?.inSeconds })
    text.family(
      "fleetctl_body_locked", .gauge, "1 where it asks for its passcode, 0 where not; absent where that is unknown.",
      each { body in
        switch body.lock {
        case .locked: 1
        case .unlocked: 0
        case .unknown: nil
        }
      })
    text.family("fleetctl_body_held", .gauge, "1 while a run or a person holds it.", each { is1($0.heldBy != nil) })
    text.family("fleetctl_body_paused", .gauge, "1 while launches are paused.", each { is1($0.pausedUntil != nil) })
    text.family("fleetctl_body_launches_total", .counter, "Launches.", each { Double($0.launches) })
    text.family(
      "fleetctl_body_revivals_total", .counter, "Launches after which the door answered in time.",
      each { Double($0.revivals) })
    text.family("fleetctl_body_flaps_total", .counter, "Short absences from the bus.", each { Double($0.flaps) })
  }

  private static func labels(_ body: BodyPresent) -> [(String, String)] {
    [("body", body.title.oneLine()), ("udid", body.udid.description.oneLine())]
  }
}
