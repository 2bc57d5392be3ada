import Fleet
import Wire

/// The shortest history that still breaks the same promise.
public struct Shrinking {
  private let promise: Promise
  private var runs: Int

  /// - Parameter runs: how many simulations it may take.
  public static func shrink(_ setting: Simulation.Setting, _ violation: Violation, runs: Int = 3_000)
    -> Simulation.Setting
  {
    var shrinking = Shrinking(promise: violation.promise, runs: runs)
    return shrinking.shrink(setting, violation)
  }

  private init(promise: Promise, runs: Int) {
    self.promise = promise
    self.runs = runs
  }

  private mutating func breaks(_ setting: Simulation.Setting) -> Violation? {
    guard runs > 0 else { return nil }
    runs -= 1
    var simulation = Simulation(setting)
    guard let violation = simulation.run(), violation.promise == promise else { return nil }
    return violation
  }

  private mutating func shrink(_ whole: Simulation.Setting, _ violation: Violation) -> Simulation.Setting {
    var best = whole
    best.length = min(best.length, violation.at + .seconds(1))
    best.script.removeAll { $0.at > best.length }
    if let phone = violation.phone { keepOnly(phone, &best) }
    keepLast(&best)
    dropLines(&best)
    beginSooner(&best)
    dropLines(&best)
    return best
  }

  /// The others have nothing to do with it, mostly.
  private mutating func keepOnly(_ phone: Int, _ best: inout Simulation.Setting) {
    var alone = best
    alone.script.removeAll {
      if case .phone = $0.verb { $0.phone != phone } else { false }
    }
    if breaks(alone) != nil { best = alone }
    var few = best
    few.phones = phone + 1
    if breaks(few) != nil { best = few }
  }

  /// What is long past has nothing to do with it, mostly.
  private mutating func keepLast(_ best: inout Simulation.Setting) {
    var count = 4
    while count < best.script.count {
      var last = best
      last.script = Array(best.script.suffix(count))
      if let violation = breaks(last) {
        best = last
        best.length = violation.at + .seconds(1)
        return
      }
      count *= 2
    }
  }

  /// Drops as many lines at once as can be dropped, then fewer.
  private mutating func dropLines(_ best: inout Simulation.Setting) {
    var chunk = max(best.script.count / 2, 1)
    while true {
      var start = 0
      var hasDropped = false
      while start < best.script.count {
        var shorter = best
        shorter.script.removeSubrange(start..<min(start + chunk, shorter.script.count))
        if let violation = breaks(shorter) {
          best = shorter
          best.length = violation.at + .seconds(1)
          hasDropped = true
        } else {
          start += chunk
        }
      }
      if chunk > 1 { chunk /= 2 } else if !hasDropped || runs == 0 { return }
    }
  }

  /// Nothing need happen before the first minute.
  private mutating func beginSooner(_ best: inout Simulation.Setting) {
    guard let first = best.script.first?.at, first > .seconds(120) else { return }
    let rounds = Int64((first - .seconds(60)).inSeconds / 10)
    for offset in [Duration.zero, .seconds(10), .seconds(300)] {
      let shift = Duration.seconds(rounds * 10) - offset
      var sooner = best
      for index in sooner.script.indices { sooner.script[index].at -= shift }
      guard sooner.script.allSatisfy({ $0.at > .zero }) else { continue }
      sooner.length -= shift
      if let violation = breaks(sooner) {
        best = sooner
        best.length = violation.at + .seconds(1)
        return
      }
    }
  }
}
