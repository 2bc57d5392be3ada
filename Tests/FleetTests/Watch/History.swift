import Fleet
import Simulation
import Testing
import Wire

/// One history: what happens on the left, the rows that it must write on the right, and nothing else.
///
///     1:03 app-dies  |
///                    | 6:05 revived launched
///
/// Times are since the start, at which the body is up and a round begins each ten seconds: an app that dies at 1:03
/// has answered at 1:00 for the last time. Rows are due at their time, give or take `tolerance`. Without a name they
/// are the first body's; `host` and `b1` stand for others.
struct History: CustomTestStringConvertible, Sendable {
  static let tolerance = Duration.seconds(11)

  var name: String
  var phones: Int
  /// How many launches are sent; nil: that does not matter.
  var launches: ClosedRange<Int>?
  var flaps: Int?
  var revivals: Int?
  var setting: Simulation.Setting
  var expected: [Row]

  struct Row: Equatable, Sendable, CustomStringConvertible {
    var at: Duration
    var phone: Int?
    var words: OutcomeWords
    var isLaunched: Bool
    var description: String {
      let who = phone.map { "b\($0)" } ?? "host"
      return "\(ScriptLine.clock(at)) \(who) \(words.text)\(isLaunched ? " launched" : "")"
    }
  }

  var testDescription: String { name }

  init(
    _ name: String, phones: Int = 1, launches: ClosedRange<Int>? = nil, flaps: Int? = nil, revivals: Int? = nil,
    _ table: String, _ shape: (inout Simulation.Setting) -> Void = { _ in }
  ) {
    self.name = name
    self.phones = phones
    self.launches = launches
    self.flaps = flaps
    self.revivals = revivals
    var script: [ScriptLine] = []
    expected = []
    for line in table.split(separator: "\n") {
      let columns = line.prefix { $0 != "#" }.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
      if columns[0].contains(where: { $0 != " " }) {
        guard let parsed = ScriptLine(text: columns[0]) else {
          Issue.record("\(name): \(columns[0]) is nothing that can happen")
          continue
        }
        script.append(parsed)
      }
      if columns.count == 2, columns[1].contains(where: { $0 != " " }) { expected.append(Self.row(columns[1], name)) }
    }
    setting = Simulation.Setting(phones: phones, script: script, length: script.map(\.at).max() ?? .zero)
    shape(&setting)
  }

  private static func row(_ text: String, _ name: String) -> Row {
    var words = text.split(separator: " ").map(String.init)
    var phone: Int? = 0
    if words[0] == "host" || words[0].hasPrefix("b") { phone = Int(words.removeFirst().dropFirst()) }
    guard words.count >= 2, let at = ScriptLine.moment(words[0]), let outcome = OutcomeWords(text: words[1]) else {
      Issue.record("\(name): \(text) is no row")
      return Row(at: .zero, phone: nil, words: OutcomeWords(.up), isLaunched: false)
    }
    return Row(at: at, phone: phone, words: outcome, isLaunched: words.count == 3)
  }

  /// Lets it happen and compares.
  func check() {
    var simulation = Simulation(setting)
    if let violation = simulation.run() { Issue.record("\(name): \(violation.text)") }
    let rows = simulation.trace.compactMap { trace -> Row? in
      guard case .row(let row) = trace.what else { return nil }
      return Row(at: trace.at, phone: trace.phone, words: row.words, isLaunched: row.launched)
    }
    let isAsTold =
      rows.count == expected.count
      && zip(rows, expected).allSatisfy { came, told in
        came.phone == told.phone && came.words == told.words && came.isLaunched == told.isLaunched
          && abs((came.at - told.at).inSeconds) <= Self.tolerance.inSeconds
      }
    #expect(isAsTold, "\(name): expected \(expected), and there came \(rows)")
    if let launches { #expect(launches.contains(simulation.launches), "\(name): \(simulation.launches) launches") }
    let memory = simulation.memory(of: 0)
    if let flaps { #expect(memory?.flaps == flaps, "\(name)") }
    if let revivals { #expect(memory?.revivals == revivals, "\(name)") }
  }
}
