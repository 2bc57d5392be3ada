import Fleet
import Glibc
import Simulation

/// Each rule taken out of the watch in turn.
struct MutantHunt {
  /// - Returns: the exit code.
  func run() -> Int32 {
    var missed = 0
    var promises: Set<Promise> = []
    var last: UInt64 = 1
    for rule in WatchRule.allCases { hunt("\(rule)", [rule], nil, &missed, &promises, &last) }
    for (rules, promise) in Mutants.pairs {
      hunt(rules.map { "\($0)" }.joined(separator: " and "), rules, promise, &missed, &promises, &last)
    }
    for promise in Promise.allCases where !promises.contains(promise) {
      print("NEVER BROKEN: \(promise.rawValue)")
      missed += 1
    }
    // What finds the mutants must find nothing without them.
    if let (_, seed, violation) = Mutants.hunt(without: [], seeds: 1...last) {
      print("the whole watch: seed \(seed), \(violation.text)")
      missed += 1
    }
    let rules = WatchRule.allCases.count
    print(
      missed == 0
        ? "each of \(rules) rules is missed when it is taken out, and each of \(promises.count) promises broken"
        : "\(missed) NOT FOUND")
    return missed == 0 ? 0 : 1
  }

  private func hunt(
    _ name: String, _ rules: [WatchRule], _ promise: Promise?, _ missed: inout Int, _ promises: inout Set<Promise>,
    _ last: inout UInt64
  ) {
    if let (_, seed, violation) = Mutants.hunt(without: rules, for: promise) {
      promises.insert(violation.promise)
      last = max(last, seed)
      print("\(name): seed \(seed), \(violation.text)")
    } else {
      print("\(name): NOT FOUND")
      missed += 1
    }
    fflush(nil)
  }
}
