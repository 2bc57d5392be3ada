import Fleet
import Wire

/// JUnit XML as Jenkins, GitLab and GitHub viewers read it.
///
/// A suite is one scenario on one body, named `file.body`, which is its tests' classname too: histories follow the body's
/// name through a replaced phone. What has not been judged yet stands in it as skipped, and what is under way as an error,
/// so that the report of a killed run never looks like a good one.
final class JUnitReport: Report {
  private let file: ReportFile
  /// A case's finished text, by its place in the ledger.
  private var done: [Int: JUnitCase] = [:]

  init(_ path: String) { file = ReportFile(path) }

  var path: String { file.path }

  func take(_ event: RunEvent, _ ledger: RunLedger, changed: Int?) throws(ReportTrouble) {
    guard let changed else { return }
    done[changed] = nil
  }

  func write(_ ledger: RunLedger, isLast: Bool) throws(ReportTrouble) {
    for (place, item) in ledger.cases.enumerated() where item.verdict != nil && done[place] == nil {
      done[place] = JUnitCase(item, ledger)
    }
    try file.replace(with: document(ledger, isLast: isLast), isLast: isLast)
  }

  private struct Suite {
    var name: String
    var first: RunCase
    var cases: [JUnitCase] = []
  }

  private func document(_ ledger: RunLedger, isLast: Bool) -> [String] {
    let suites = self.suites(ledger, isLast: isLast)
    let cases = suites.flatMap(\.cases)
    let seconds = ledger.finished?.seconds ?? cases.reduce(0) { $0 + $1.seconds }
    var parts = ["<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"]
    parts.append(
      "<testsuites name=\"fleetctl \(ledger.name)\" \(Self.counts(cases)) time=\"\(Self.time(seconds))\">\n")
    for suite in suites {
      parts.append(
        "  <testsuite name=\"\(XMLText.attribute(suite.name))\" \(Self.counts(suite.cases))"
          + " skipped=\"\(suite.cases.count { $0.outcome == .skipped })\""
          + " time=\"\(Self.time(suite.cases.reduce(0) { $0 + $1.seconds }))\""
          + " timestamp=\"\(Self.timestamp(suite, ledger))\">\n")
      parts.append(properties(suite, ledger))
      parts += suite.cases.map { $0.xml }
      parts.append("  </testsuite>\n")
    }
    parts.append("</testsuites>\n")
    return parts
  }

  /// In the order of the phones and, on each, of the scenarios.
  private func suites(_ ledger: RunLedger, isLast: Bool) -> [Suite] {
    var order: [String] = []
    var suites: [String: Suite] = [:]
    var names: Set<String> = []
    func add(_ item: RunCase, _ made: JUnitCase) {
      let name = JUnitCase.className(item)
      if suites[name] == nil {
        order.append(name)
        suites[name] = Suite(name: name, first: item)
      }
      suites[name]?.cases.append(made.renamed(uniqueIn: &names))
    }
    for (place, item) in ledger.cases.enumerated() {
      add(item, done[place] ?? JUnitCase(underWay: item))
    }
    for item in ledger.pending { add(item, JUnitCase(pending: item, isOver: isLast)) }
    var places: [UDID: Int] = [:]
    for (place, phone) in (ledger.started?.phones ?? []).enumerated() { places[phone.udid] = place }
    let indexed = order.enumerated().compactMap { index, name in suites[name].map { (index, $0) } }
    return indexed.sorted { left, right in
      let phones = (places[left.1.first.udid] ?? .max, places[right.1.first.udid] ?? .max)
      return phones.0 == phones.1 ? left.0 < right.0 : phones.0 < phones.1
    }.map(\.1)
  }

  private func properties(_ suite: Suite, _ ledger: RunLedger) -> String {
    var properties = ledger.phone(suite.first.udid).map(ReportText.facts) ?? [("udid", suite.first.udid.description)]
    if let body = suite.first.body { properties.insert(("body", body), at: 0) }
    for item in suite.cases where item.attempts > 0 {
      properties.append((item.suffix.isEmpty ? "attempts" : "attempts\(item.suffix)", "\(item.attempts)"))
    }
    if let started = ledger.started {
      properties.append(("fleetctl", started.version))
      if ledger.number > 0 { properties.append(("run", "\(ledger.number)")) }
      if let label = started.label { properties.append(("label", label)) }
      if let hash = started.files.first(where: { $0.scenario == suite.first.scenario })?.hash {
        properties.append(("scenario_sha256", hash))
      }
      properties += started.meta.sorted { $0.key < $1.key }.map { ("meta.\($0.key)", $0.value) }
    }
    let lines = properties.map { name, value in
      "      <property name=\"\(XMLText.attribute(name))\" value=\"\(XMLText.attribute(value))\"/>\n"
    }
    return "    <properties>\n\(lines.joined())    </properties>\n"
  }

  private static func counts(_ cases: [JUnitCase]) -> String {
    "tests=\"\(cases.count)\" failures=\"\(cases.count { $0.outcome == .failure })\""
      + " errors=\"\(cases.count { $0.outcome == .error })\""
  }

  /// Seconds with three decimals and no exponent.
  static func time(_ seconds: Double) -> String {
    let milliseconds = Int64((max(0, seconds) * 1_000).rounded())
    return "\(milliseconds / 1_000).\(String(1_000 + milliseconds % 1_000).dropFirst())"
  }

  /// Without fraction and zone, which some readers do not take; it is UTC.
  private static func timestamp(_ suite: Suite, _ ledger: RunLedger) -> String {
    let at = suite.first.attempts.first?.startedAt ?? ledger.startedAt
    return at.utf8.count >= 19 ? String(at.prefix(19)) : "1970-01-01T00:00:00"
  }
}
