import Fleet
import Wire

/// Rows of outcomes as people, spreadsheets and programs read them.
enum OutcomeText {
  /// When, who, what, what was before, what else is known.
  static func cells(_ row: OutcomeReport) -> [String] {
    var rest = row.detail ?? ""
    if let silent = row.silent { rest = "silent \(Age.text(silent))\(rest.isEmpty ? "" : "; \(rest)")" }
    return [
      LocalTime.text(WallClock.rfc3339(row.at)), row.body ?? row.udid?.description ?? "host", row.words.text,
      row.was.map { "was \($0.text)" } ?? "", rest,
    ]
  }

  static func line(_ row: OutcomeReport) -> String { cells(row).map(\.printable).joined(separator: "  ") }

  private static let keys = [
    "seq", "at", "body", "udid", "outcome", "reason", "was", "detail", "silent_s", "launched",
  ]

  static let csvHead = keys.joined(separator: ",")

  /// The values of JSON, in the order of the head; what is absent is empty. One row is one line.
  static func csv(_ row: OutcomeReport) -> String {
    let object = row.json
    return keys.map { key in
      guard let value = object[key], value != .null else { return "" }
      return quoted((value.string ?? value.line).printable)
    }.joined(separator: ",")
  }

  private static func quoted(_ text: String) -> String {
    guard text.contains(where: { $0 == "," || $0 == "\"" }) else { return text }
    return "\"" + text.replacing("\"", with: "\"\"") + "\""
  }
}
