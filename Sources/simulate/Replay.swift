import Fleet
import Simulation
import Wire

/// One history, told.
struct Replay {
  private let seed: UInt64
  private let phones: Int
  private let isVerbose: Bool
  private let leaps: Bool

  init(_ numbers: [UInt64], isVerbose: Bool, leaps: Bool) {
    self.isVerbose = isVerbose
    self.leaps = leaps
    seed = numbers.first ?? 1
    phones = numbers.count > 1 ? Int(clamping: min(numbers[1], 1_000)) : 1
  }

  /// - Returns: the exit code.
  func run() -> Int32 {
    var text = ""
    while let line = readLine(strippingNewline: false) { text += line }
    guard let script = [ScriptLine](script: text) else {
      print("That is no history: lines like 0:01:03.500 b0 app-dies are.")
      return 2
    }
    let length = (script.map(\.at).max() ?? .zero) + .seconds(3_600)
    var setting = Simulation.Setting(seed: seed, phones: phones, length: length, .everyday)
    setting.script = script
    setting.keepsTrace = true
    setting.keepsEvents = isVerbose
    setting.leaps = leaps
    var simulation = Simulation(setting)
    let violation = simulation.run()
    for trace in simulation.trace {
      print("\(ScriptLine.clock(trace.at)) \(trace.phone.map { "b\($0)" } ?? "host") \(Self.text(trace.what))")
    }
    print(violation?.text ?? "every promise was kept")
    return violation == nil ? 0 : 1
  }

  private static func text(_ what: Simulation.Trace.What) -> String {
    switch what {
    case .row(let row): row.json.line
    case .launch(let fresh): fresh ? "launched afresh" : "launched"
    case .mount: "image mounted"
    case .start: "the supervisor begins"
    case .event(let event, let commands): "\(event) -> \(commands)"
    }
  }
}
