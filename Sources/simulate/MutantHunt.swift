import Fleet
import Glibc
import Simulation

/// Each rule taken out of the watch in turn.
struct MutantHunt {
  /// - Returns: the exit code.
  func run() -> Int32 {
    var missed = 0
    var promises: Set<Promise> = []
    for rule in WatchRule.allCases {
      guard let (_, seed, violation) = Mutants.hunt(rule) else {
        print("\(rule): NOT FOUND")
        missed += 1
        continue
      }
      promises.insert(violation.promise)
      print("\(rule): seed \(seed), \(violation.text)")
      fflush(nil)
    }
    for promise in Promise.allCases where !promises.contains(promise) { print("never broken: \(promise.rawValue)") }
    print(
      "\(WatchRule.allCases.count - missed) of \(WatchRule.allCases.count) rules are missed when they are taken out.")
    return missed == 0 ? 0 : 1
  }
}
