import Fleet
import Wire

/// What is different between two runs: first what was changed, then what came of it.
public struct Comparison: Equatable, Sendable {
  /// Something that was not the same for both runs.
  public struct Change: Equatable, Sendable {
    public enum What: String, Sendable {
      case build, ios, phone, fleetctl
      case usbPort = "usb-port"
      case scenario
      case addedScenario = "added-scenario"
      case removedScenario = "removed-scenario"
      case addedBody = "added-body"
      case removedBody = "removed-body"
      case unfinished
    }
    public var what: What
    /// The bodies, the scenario or the run that it is about.
    public var subjects: [String]
    public var before: String?
    public var after: String?
  }

  /// How a scenario on a body fared in both.
  public struct Difference: Equatable, Sendable {
    public enum Kind: String, Sendable, CaseIterable {
      case newlyFailing = "newly-failing"
      case fixed
      case stillFailing = "still-failing"
      case flaky
      case slower
      /// Judged before, and now an error, skipped, quarantined or not run.
      case notJudged = "not-judged"
    }
    public var kind: Kind
    public var body: String
    public var scenario: String
    /// nil: it was not run.
    public var before: VerdictRow?
    public var after: VerdictRow?
  }

  public let changes: [Change]
  public let differences: [Difference]
  /// Scenarios on bodies that both runs have judged.
  public let comparable: Int

  /// Slower to recover: by more than half, and by more than a second, since a phone is never equally quick twice.
  static let slowerFactor = 1.5
  static let slowerSeconds = 1.0

  public init(_ before: ComparedRun, _ after: ComparedRun) {
    changes = Changes(before, after).all
    let (old, new) = (before.final, after.final)
    comparable = new.count { place, row in row.verdict.isJudged && (old[place]?.verdict.isJudged ?? false) }
    var differences: [Difference] = []
    for place in Set(old.keys).union(new.keys).sorted() {
      let (was, now) = (old[place], new[place])
      for kind in Self.kinds(was, now) {
        differences.append(
          Difference(kind: kind, body: place.body, scenario: place.scenario, before: was, after: now))
      }
    }
    // In the order in which they want to be read, by scenario and body within.
    let order = Dictionary(uniqueKeysWithValues: Difference.Kind.allCases.enumerated().map { ($1, $0) })
    self.differences = differences.enumerated().sorted { left, right in
      (order[left.element.kind] ?? 0, left.offset) < (order[right.element.kind] ?? 0, right.offset)
    }.map(\.element)
  }

  /// 1 when something fails that did not fail before, 4 when there is nothing to compare.
  public var exitCode: ExitCode {
    if differences.contains(where: { $0.kind == .newlyFailing }) { return .no }
    return comparable == 0 ? .nothingJudged : .done
  }

  private static func kinds(_ was: VerdictRow?, _ now: VerdictRow?) -> [Difference.Kind] {
    guard let now, now.verdict.isJudged else {
      guard let was, was.verdict.isJudged else { return [] }
      return [.notJudged]
    }
    if now.verdict == .failed { return [was?.verdict == .failed ? .stillFailing : .newlyFailing] }
    var kinds: [Difference.Kind] = []
    if was?.verdict == .failed { kinds.append(.fixed) }
    if now.verdict == .flaky { kinds.append(.flaky) }
    if let before = was?.recoverySeconds, let after = now.recoverySeconds, after > before * slowerFactor,
      after - before > slowerSeconds
    {
      kinds.append(.slower)
    }
    return kinds
  }
}

extension Verdict {
  /// It says something about the app.
  var isJudged: Bool {
    switch self {
    case .passed, .failed, .flaky: true
    case .skipped, .error, .quarantined: false
    }
  }
}

extension ComparedRun.Place: Comparable {
  static func < (left: Self, right: Self) -> Bool { (left.scenario, left.body) < (right.scenario, right.body) }
}

/// What was not the same for two runs.
private struct Changes {
  private let before: ComparedRun
  private let after: ComparedRun

  init(_ before: ComparedRun, _ after: ComparedRun) {
    self.before = before
    self.after = after
  }

  var all: [Comparison.Change] {
    var changes: [Comparison.Change] = []
    let (old, new) = (bodies(before), bodies(after))
    changes += grouped(.build, old, new) { row in
      // What could not be read is no change.
      row.build.map { build in [row.bundle, row.version, "(\(build))"].compactMap { $0 }.joined(separator: " ") }
    }
    changes += grouped(.ios, old, new, \.ios)
    changes += grouped(.phone, old, new) { $0.udid.description.uppercased() }
    changes += grouped(.usbPort, old, new, \.usbPort)
    if before.run.version != after.run.version {
      changes.append(
        Comparison.Change(what: .fleetctl, subjects: [], before: before.run.version, after: after.run.version))
    }
    changes += scenarios
    changes += names(.addedBody, Set(new.keys).subtracting(old.keys))
    changes += names(.removedBody, Set(old.keys).subtracting(new.keys))
    changes += names(.unfinished, Set([before, after].filter { !$0.isWhole }.map(\.title)))
    return changes
  }

  private func bodies(_ run: ComparedRun) -> [String: RunBodyRow] {
    Dictionary(run.run.bodies.map { ($0.body ?? $0.udid.description, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Bodies for which the same has changed in the same way are one change.
  private func grouped(
    _ what: Comparison.Change.What, _ old: [String: RunBodyRow], _ new: [String: RunBodyRow],
    _ value: (RunBodyRow) -> String?
  ) -> [Comparison.Change] {
    struct Pair: Hashable { var before, after: String }
    var groups: [Pair: [String]] = [:]
    for (body, row) in new {
      guard let was = old[body].flatMap(value), let now = value(row), was != now else { continue }
      groups[Pair(before: was, after: now), default: []].append(body)
    }
    return groups.map { pair, bodies in
      Comparison.Change(what: what, subjects: bodies.sorted(), before: pair.before, after: pair.after)
    }.sorted { $0.subjects.lexicographicallyPrecedes($1.subjects) }
  }

  private var scenarios: [Comparison.Change] {
    func hashes(_ run: ComparedRun) -> [String: String] {
      Dictionary(run.run.scenarios.map { ($0.scenario, $0.hash) }, uniquingKeysWith: { first, _ in first })
    }
    let (old, new) = (hashes(before), hashes(after))
    let changed = new.keys.filter { name in old[name].map { $0 != new[name] } ?? false }.sorted()
    return changed.map { name in
      Comparison.Change(what: .scenario, subjects: [name], before: short(old[name]), after: short(new[name]))
    } + names(.addedScenario, Set(new.keys).subtracting(old.keys))
      + names(.removedScenario, Set(old.keys).subtracting(new.keys))
  }

  private func short(_ hash: String?) -> String? { hash.map { String($0.prefix(8)) } }

  private func names(_ what: Comparison.Change.What, _ names: Set<String>) -> [Comparison.Change] {
    names.isEmpty ? [] : [Comparison.Change(what: what, subjects: names.sorted(), before: nil, after: nil)]
  }
}
