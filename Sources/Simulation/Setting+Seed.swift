import Fleet
import Glibc

func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }
func logarithm(_ number: Double) -> Double { log(number) }

extension Simulation.Setting {
  /// A fleet as mixed as fleets are, and what happens to it.
  public init(seed: UInt64, phones: Int, length: Duration, _ chances: Chances, book: RuleBook = .whole) {
    self.init(
      phones: phones, script: chances.script(seed: seed, phones: phones, length: length), length: length)
    rules.book = book
    past = seed % 3 == 0 ? nil : OutcomeWords(.up)
    keepsTrace = false
    for phone in 0..<phones {
      var own = rules
      switch (phone + Int(seed % 7)) % 10 {
      case 4: own.asksHands = false
      case 5: own.answerWithin = .seconds(20)
      case 6: own.grace = .seconds(60)
      case 7: own.launches = false
      case 8: own.mountsImages = true
      case 9: if phone % 4 == 1 { ios[phone] = "17.2" }
      default: continue
      }
      phoneRules[phone] = own
    }
  }
}
