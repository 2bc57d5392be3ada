import Fleet
import Simulation
import Testing

@Suite struct `a watch that lacks a rule` {
  @Test(arguments: WatchRule.allCases) func `is found out`(_ rule: WatchRule) {
    #expect(Mutants.hunt(without: [rule]) != nil, "nothing went wrong without \(rule)")
  }

  @Test func `is found out by each promise that no single rule breaks first`() {
    for (rules, promise) in Mutants.pairs {
      #expect(Mutants.hunt(without: rules, for: promise) != nil, "\(promise.rawValue)")
    }
  }

  @Test func `is found out by a history of a few lines`() throws {
    let (setting, _, violation) = try #require(Mutants.hunt(without: [.grace]))

    let least = Shrinking.shrink(setting, violation, runs: 300)

    var again = Simulation(least)
    #expect(again.run()?.promise == violation.promise)
    #expect(least.script.count <= 4, "\(least.script.script)")
  }
}

@Suite struct `a script` {
  @Test func `is read as it was written`() {
    let script = Chances.crowded.script(seed: 3, phones: 4, length: .seconds(86_400))

    #expect([ScriptLine](script: script.script) == script)
    #expect(script.count > 300)
  }

  @Test(arguments: ["", "0:01", "0:01:00 b0 app-flies", "x b0 app-dies", "0:01:00 b0 flap 5", "0:01:00 b0 flap 5s 6s"])
  func `is refused where a line is none`(_ line: String) {
    #expect(ScriptLine(text: line) == nil)
  }
}
