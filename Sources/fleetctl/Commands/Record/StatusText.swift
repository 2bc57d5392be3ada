import Fleet
import Wire

/// One line a body, narrow enough for a telephone's terminal.
struct StatusText {
  /// Columns.
  static let width = 45
  private static let longestName = 14

  let style: Style
  /// The wall clock.
  let now: Duration

  func lines(_ bodies: [BodyPresent], isSupervised: Bool) -> [String] {
    let names = Self.names(bodies)
    let column = names.map(DisplayWidth.of).max() ?? 0
    let order = bodies.indices.sorted { (bodies[$0].rank, $0) < (bodies[$1].rank, $1) }
    return order.map { index in
      let (body, name) = (bodies[index], names[index])
      let room = Self.width - 2 - column - 2
      let gap = String(repeating: " ", count: column - DisplayWidth.of(name) + 2)
      return "\(symbol(body)) \(name)\(gap)\(text(body, room, isSupervised))"
    }
  }

  /// Cut where they are too long; those that would be the same then are told apart by their ends.
  private static func names(_ bodies: [BodyPresent]) -> [String] {
    let cut = bodies.map { fitted($0.title.printable, to: longestName) }
    let counts = Dictionary(cut.map { ($0, 1) }, uniquingKeysWith: +)
    return zip(bodies, cut).map { body, name in
      guard counts[name, default: 1] > 1 else { return name }
      var end = body.title.printable
      while !end.isEmpty, DisplayWidth.of(end) > longestName - 1 { end.removeFirst() }
      return "…" + end
    }
  }

  func host(_ row: OutcomeReport) -> String {
    let texts = ["\(row.words.text) \(Age.text(now - row.at))", row.words.text, row.words.reason?.rawValue ?? ""]
    return "\(style.bad("!")) host  \(Self.first(texts, Self.width - 8))"
  }

  private func symbol(_ body: BodyPresent) -> String {
    guard body.outOfService == nil, let words = body.words else { return style.faint("·") }
    switch body.rank {
    case 0: return style.bad(words.isWell || words.kind == .revived ? "✗" : words.kind.symbol)
    case 1: return style.odd("~")
    case 2: return style.odd(words.kind.symbol)
    default: return style.good(words.kind.symbol)
    }
  }

  private func text(_ body: BodyPresent, _ room: Int, _ isSupervised: Bool) -> String {
    if let reason = body.outOfService { return Self.first(["out of service: \(reason.printable)"], room) }
    guard let words = body.words else {
      return Self.first([isSupervised ? "not judged yet" : "not seen yet"], room)
    }
    let age = body.since.map { Age.text(now - $0) }
    let launch = body.nextLaunch.map { $0 > now ? ", may act in \(Age.text($0 - now))" : ", may act now" }
    var texts: [String]
    if let silent = body.silent, words.isWell {
      let text = "silent \(Age.text(silent))"
      texts = [launch.map { text + $0 }, text].compactMap { $0 }
    } else if words == OutcomeWords(.revived) {
      texts = [age.map { "up, revived \($0) ago" }, "up, revived"].compactMap { $0 }
    } else {
      let (names, ages) = (Self.short(words), age.map { ["\($0)\(launch ?? "")", $0] } ?? [])
      texts = names.flatMap { name in ages.map { "\(name) \($0)" } } + names
    }
    if body.pausedUntil != nil, words.kind != .paused { texts = texts.flatMap { ["\($0), paused", $0] } }
    return Self.first(texts, room)
  }

  /// The words, and what can stand for them where there is no room.
  private static func short(_ words: OutcomeWords) -> [String] {
    guard let reason = words.reason else { return [words.text] }
    switch words.kind {
    // The reason is one of several kinds' own.
    case .silent, .launchedNoAnswer, .revived, .held: return [words.text, words.kind.rawValue]
    case .up, .locked, .paused, .untrusted, .unreachable, .launchRefused, .leftAlone, .hostFault:
      return [words.text, reason.rawValue]
    }
  }

  private static func first(_ texts: [String], _ room: Int) -> String {
    texts.first { DisplayWidth.of($0) <= room } ?? fitted(texts.last ?? "", to: room)
  }

  private static func fitted(_ text: String, to width: Int) -> String {
    guard DisplayWidth.of(text) > width else { return text }
    var cut = text
    while !cut.isEmpty, DisplayWidth.of(cut) > width - 1 { cut.removeLast() }
    return cut + "…"
  }
}

/// Spans of time in a few characters: `4:10`, `3h`, `5d`, `3w`.
enum Age {
  static func text(_ span: Duration) -> String {
    let seconds = max(0, Int(span.components.seconds))
    switch seconds {
    case ..<3_600: return "\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)"
    case ..<172_800: return "\(seconds / 3_600)h"
    case ..<1_209_600: return "\(seconds / 86_400)d"
    default: return "\(seconds / 604_800)w"
    }
  }
}
