import Fleet

/// A watch that lacks one of its rules, let loose on crowded days: some promise must be found broken.
public enum Mutants {
  /// - Parameter seeds: to be tried in turn.
  /// - Returns: the first seed that finds it out, and how; nil when none does.
  public static func hunt(
    _ rule: WatchRule, seeds: ClosedRange<UInt64> = 1...40
  ) -> (setting: Simulation.Setting, seed: UInt64, violation: Violation)? {
    for seed in seeds {
      let setting = Simulation.Setting(
        seed: seed, phones: 11, length: .seconds(2 * 86_400), .crowded, book: RuleBook.whole.without(rule))
      var simulation = Simulation(setting)
      if let violation = simulation.run() { return (setting, seed, violation) }
    }
    return nil
  }
}
