import Fleet
import Glibc
import Simulation
import Wire

/// For each seed a year of two hundred bodies, and crowded days of a few.
struct Years {
  private let seeds: ClosedRange<UInt64>
  private let days: UInt64

  /// - Parameter numbers: how many seeds, the first of them, and how many days a year has; by default 20, and a fresh one.
  init(_ numbers: [UInt64]) {
    let first = numbers.count > 1 ? numbers[1] : UInt64.random(in: 1...1_000_000_000)
    days = numbers.count > 2 ? min(numbers[2], 10_000) : 365
    seeds = first...(first + max(numbers.first ?? 20, 1) - 1)
  }

  /// - Returns: the exit code.
  func run() -> Int32 {
    var broken = 0
    for seed in seeds {
      let year = Simulation.Setting(seed: seed, phones: 200, length: .seconds(days * 86_400), .everyday)
      if !keeps(year, seed, "200 bodies, \(days) days") { broken += 1 }
      for part in UInt64(0)..<20 {
        let crowd = Simulation.Setting(
          seed: seed &* 1_000 + part, phones: 11, length: .seconds(4 * 86_400), .crowded)
        if !keeps(crowd, seed &* 1_000 + part, "11 bodies, 4 crowded days") { broken += 1 }
      }
      // One seed in twenty goes without leaps for a week, and must come to the same.
      if (seed - seeds.lowerBound) % 20 == 0, !isSameWithoutLeaps(seed) { broken += 1 }
    }
    print(broken == 0 ? "\(seeds.count) seeds: every promise was kept." : "\(broken) simulations broke a promise.")
    return broken == 0 ? 0 : 1
  }

  /// - Parameter numbers: the seed, how many phones, and how many days.
  /// - Returns: the exit code.
  func crowd(_ numbers: [UInt64]) -> Int32 {
    let seed = numbers.first ?? 1
    let phones = numbers.count > 1 ? Int(clamping: min(numbers[1], 1_000)) : 11
    let days = numbers.count > 2 ? min(numbers[2], 10_000) : 1
    let crowd = Simulation.Setting(seed: seed, phones: phones, length: .seconds(days * 86_400), .crowded)
    return keeps(crowd, seed, "\(phones) bodies, \(days) crowded days") ? 0 : 1
  }

  private func keeps(_ setting: Simulation.Setting, _ seed: UInt64, _ what: String) -> Bool {
    let began = ContinuousClock.now
    var simulation = Simulation(setting)
    let violation = simulation.run()
    let seconds = ((ContinuousClock.now - began).inSeconds * 10).rounded() / 10
    guard let violation else {
      print(
        "seed \(seed): \(what): kept, in \(seconds) s; \(simulation.handled) events, \(simulation.leapt) rounds",
        "leapt over, \(simulation.launches) launches")
      fflush(nil)
      return true
    }
    print("seed \(seed): \(what): \(violation.text)")
    fflush(nil)
    let least = Shrinking.shrink(setting, violation)
    var again = Simulation(least)
    print("The shortest history that still does: simulate replay \(seed) \(least.phones) < FILE")
    print(least.script.script)
    print(again.run()?.text ?? "", "\n")
    fflush(nil)
    return false
  }

  private func isSameWithoutLeaps(_ seed: UInt64) -> Bool {
    var setting = Simulation.Setting(seed: seed, phones: 50, length: .seconds(7 * 86_400), .everyday)
    setting.keepsTrace = true
    var leaping = Simulation(setting)
    setting.leaps = false
    var walking = Simulation(setting)
    _ = leaping.run()
    _ = walking.run()
    guard leaping.trace == walking.trace else {
      let first = zip(leaping.trace, walking.trace).first { $0 != $1 }
      print(
        "seed \(seed): a week without leaps came to something else: \(first.map { "\($0)\n  and walking \($1)" } ?? "")"
      )
      return false
    }
    print(
      "seed \(seed): a week of every round, \(walking.handled) events, came to the same \(walking.trace.count) things.")
    return true
  }
}
