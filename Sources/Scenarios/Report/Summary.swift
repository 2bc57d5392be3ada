import Fleet

/// The last line of a run.
enum Summary {
  /// - Parameter planned: scenarios times phones, as the run set out to judge.
  static func line(_ counts: VerdictCounts, planned: Int, phones: Int, stopped: Bool) -> String {
    var parts = Verdict.allCases.compactMap { verdict -> String? in
      let count = counts[verdict]
      guard count > 0 else { return nil }
      return verdict == .error && count > 1 ? "\(count) errors" : "\(count) \(verdict.rawValue)"
    }
    let missing = planned - counts.all
    if missing > 0 { parts.append("\(missing) not run") }
    if stopped { parts.append("stopped") }
    let phones = phones == 1 ? "1 phone" : "\(phones) phones"
    let verdicts = parts.isEmpty ? "" : ": \(parts.joined(separator: ", "))"
    return "\(counts.judged) of \(planned) judged, on \(phones)\(verdicts)"
  }
}
