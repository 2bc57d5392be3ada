import Fleet
import Wire

/// How many verdicts there were of each kind.
public struct VerdictCounts: Equatable, Sendable {
  private var counts: [Verdict: Int] = [:]

  public init() {}

  public subscript(verdict: Verdict) -> Int { counts[verdict] ?? 0 }

  public mutating func add(_ verdict: Verdict) { counts[verdict, default: 0] += 1 }

  /// Those that say something about the app.
  public var judged: Int { self[.passed] + self[.failed] + self[.flaky] }

  public var all: Int { counts.values.reduce(0, +) }

  /// The exit code that the verdicts ask for: 1 for a failure, over 3 for an error, over 4 where nothing was judged.
  ///
  /// A skipped or quarantined scenario is never a pass, and by itself never a failure.
  public var exitCode: ExitCode { exitCode() }

  /// - Parameters:
  ///   - failOnSkip: a gate takes a skipped scenario for a failure.
  ///   - failOnFlaky: it takes a flaky one for a failure.
  public func exitCode(failOnSkip: Bool = false, failOnFlaky: Bool = false) -> ExitCode {
    if self[.failed] > 0 || failOnSkip && self[.skipped] > 0 || failOnFlaky && self[.flaky] > 0 { return .no }
    if self[.error] > 0 { return .harness }
    return judged == 0 ? .nothingJudged : .done
  }

  public var json: JSON {
    .object(
      Dictionary(
        uniqueKeysWithValues: Verdict.allCases.map { ($0.rawValue, JSON.integer(Int64(self[$0]))) }))
  }
}
