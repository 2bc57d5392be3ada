import Fleet
import Wire

/// Rows of the record as cells and objects.
enum RunText {
  static func cells(_ run: RunRow, _ counts: [Verdict: Int]) -> [String] {
    let verdicts = Verdict.allCases.compactMap { verdict in counts[verdict].map { "\($0) \(verdict.rawValue)" } }
    let builds = Set(run.bodies.compactMap(\.build)).sorted()
    return [
      "\(run.number)", LocalTime.text(run.startedAt), run.label ?? "",
      "\(run.bodies.count) \(run.isVirtual ? "virtual" : run.bodies.count == 1 ? "phone" : "phones")",
      builds.isEmpty ? "" : "build \(builds.joined(separator: ","))",
      verdicts.isEmpty ? "nothing judged" : verdicts.joined(separator: ", "),
      run.exit.map { "exit \($0)" } ?? "not finished",
    ]
  }

  static func json(_ run: RunRow, _ counts: [Verdict: Int]) -> JSON {
    let all = Verdict.allCases.map { ($0.rawValue, JSON.integer(Int64(counts[$0] ?? 0))) }
    return [
      "number": .integer(Int64(run.number)), "started_at": .string(run.startedAt),
      "finished_at": .text(run.finishedAt), "version": .string(run.version), "label": .text(run.label),
      "meta": .object(run.meta.mapValues(JSON.string)), "virtual": .boolean(run.isVirtual),
      "seconds": number(run.seconds), "exit": run.exit.map { .integer(Int64($0)) } ?? .null,
      "counts": .object(Dictionary(uniqueKeysWithValues: all)),
      "scenarios": .array(
        run.scenarios.map { ["scenario": .string($0.scenario), "file": .string($0.file), "hash": .string($0.hash)] }),
      "bodies": .array(
        run.bodies.map {
          .object(phone($0).merging(["body": .text($0.body), "udid": .string($0.udid.description)]) { $1 })
        }),
    ]
  }

  static func cells(_ row: VerdictRow, _ phone: RunBodyRow?) -> [String] {
    [
      "run \(row.run)", LocalTime.text(row.at), "\(row.verdict.symbol) \(row.verdict.rawValue)",
      row.attempt > 1 ? "attempt \(row.attempt)" : "", words(row.seconds),
      row.recoverySeconds.map { "back after \(words($0))" } ?? "",
      phone?.build.map { "build \($0)" } ?? "", phone?.ios.map { "iOS \($0)" } ?? "",
      phone?.usbPort.map { "USB \($0)" } ?? "", row.message ?? "",
    ]
  }

  static func json(_ row: VerdictRow, _ found: RunBodyRow?) -> JSON {
    let verdict: [String: JSON] = [
      "run": .integer(Int64(row.run)), "at": .string(row.at), "body": .text(row.body),
      "udid": .string(row.udid.description), "scenario": .string(row.scenario), "file": .string(row.file),
      "line": .integer(Int64(row.line)), "attempt": .integer(Int64(row.attempt)),
      "verdict": .string(row.verdict.rawValue), "seconds": .number(row.seconds),
      "recovery_s": number(row.recoverySeconds), "message": .text(row.message),
    ]
    return .object(verdict.merging(phone(found)) { $1 })
  }

  private static func phone(_ row: RunBodyRow?) -> [String: JSON] {
    [
      "model": .text(row?.model), "ios": .text(row?.ios), "bundle": .text(row?.bundle),
      "CFBundleShortVersionString": .text(row?.version), "CFBundleVersion": .text(row?.build),
      "usb_port": .text(row?.usbPort),
    ]
  }

  static func words(_ seconds: Double) -> String { Duration.milliseconds(Int64((seconds * 1000).rounded())).shown }

  static func number(_ value: Double?) -> JSON { value.map(JSON.number) ?? .null }
}
