import Fleet
import Simulation
import Testing

@Suite struct `a simulated fleet` {
  @Test(arguments: UInt64(1)...3) func `keeps every promise through crowded days`(_ seed: UInt64) {
    var simulation = Simulation(Simulation.Setting(seed: seed, phones: 11, length: .seconds(86_400), .crowded))

    let violation = simulation.run()

    #expect(violation == nil, "seed \(seed): \(violation?.text ?? "")")
    // It has been where it matters.
    #expect(simulation.launches > 20)
    #expect(simulation.leapt > 10_000)
  }

  @Test func `comes to the same when no round is leapt over`() {
    var setting = Simulation.Setting(seed: 7, phones: 6, length: .seconds(43_200), .crowded)
    setting.keepsTrace = true
    var leaping = Simulation(setting)
    setting.leaps = false
    var walking = Simulation(setting)

    #expect(leaping.run() == nil)
    #expect(walking.run() == nil)

    #expect(leaping.trace == walking.trace)
    #expect(walking.trace.count > 50)
    #expect(leaping.handled * 2 < walking.handled)
  }

  @Test func `is the same for the same seed`() {
    func trace() -> [Simulation.Trace] {
      var setting = Simulation.Setting(seed: 8, phones: 4, length: .seconds(20_000), .crowded)
      setting.keepsTrace = true
      var simulation = Simulation(setting)
      _ = simulation.run()
      return simulation.trace
    }

    #expect(trace() == trace())
  }

  @Test(arguments: Kept.all) func `keeps what it once did not`(_ kept: Kept) throws {
    var setting = Simulation.Setting(seed: kept.seed, phones: kept.phones, length: .zero, .everyday)
    setting.script = try #require([ScriptLine](script: kept.script))
    setting.length = (setting.script.map(\.at).max() ?? .zero) + .seconds(1_800)
    var simulation = Simulation(setting)

    let violation = simulation.run()

    #expect(violation == nil, "\(kept.about): \(violation?.text ?? "")")
  }
}
