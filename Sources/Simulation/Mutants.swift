import Fleet

/// A watch that lacks rules of its own, let loose on crowded days: some promise must be found broken.
public enum Mutants {
  /// - Parameters:
  ///   - rules: what is taken out; none: the whole watch, of which nothing should be found.
  ///   - promise: what is to be found; nil: any.
  ///   - seeds: to be tried in turn.
  /// - Returns: the first seed that finds it out, and how; nil when none does.
  public static func hunt(
    without rules: [WatchRule], for promise: Promise? = nil, seeds: ClosedRange<UInt64> = 1...40
  ) -> (setting: Simulation.Setting, seed: UInt64, violation: Violation)? {
    let book = rules.reduce(RuleBook.whole) { $0.without($1) }
    for seed in seeds {
      let setting = Simulation.Setting(seed: seed, phones: 11, length: .seconds(2 * 86_400), .crowded, book: book)
      var simulation = Simulation(setting)
      if let violation = simulation.run(), violation.promise == promise ?? violation.promise {
        return (setting, seed, violation)
      }
    }
    return nil
  }

  /// Found out by another promise first, unless more than the one rule is taken out.
  public static let pairs: [(rules: [WatchRule], promise: Promise)] = [
    ([.answersInTime, .leaseIsShort], .revivedInTime)
  ]
}
