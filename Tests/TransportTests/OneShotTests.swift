import Testing
import Transport

@Suite struct `a result that several may give` {
  @Test func `is the first one, whenever it is asked for`() async {
    let early = OneShot<Int>()
    let late = OneShot<Int>()

    let first = early.give(1)
    let second = early.give(2)
    async let waited = late.value()
    late.give(3)

    #expect(first && !second && early.isGiven)
    #expect(await early.value() == 1)
    #expect(await waited == 3)
  }

  @Test func `is the late one's where none comes in time, and stays so`() async {
    let shot = OneShot<Int>()

    let late = await shot.value(within: .milliseconds(1), else: 7)
    let isCounted = shot.give(8)

    #expect(late == 7)
    #expect(!isCounted)
  }

  @Test func `is not held by whoever gave it, once it was handed over`() async {
    final class Held: Sendable {}
    let (early, late) = (OneShot<Held>(), OneShot<Held>())
    weak var first: Held?
    weak var second: Held?

    do {
      let (one, two) = (Held(), Held())
      (first, second) = (one, two)
      early.give(one)
      _ = await early.value()
      async let waited = late.value()
      late.give(two)
      _ = await waited
    }

    #expect(first == nil && second == nil)
    #expect(early.isGiven && late.isGiven)
  }
}
