import Fleet
import Testing

@testable import Scenarios

/// A scenario and how everything in it ends, made up from a seed.
private struct Story {
  var plan: Judge.Plan
  var survey: StepResult
  var needs: [StepResult]
  var steps: [StepResult]
  var recovers: [StepResult]
  /// What each need or step arranges before it ends.
  var arranges: [String: Arrangement] = [:]
  var undoProblems: Bool

  init(_ random: inout SeededRandom) {
    let needs = Int.random(in: 0...2, using: &random)
    let steps = Self.steps(&random)
    let recovers = Self.steps(&random)
    plan = Judge.Plan(needs: (0..<needs).map { $0 + 1 }, steps: steps, recovers: recovers)
    survey = Self.early(&random)
    self.needs = plan.needs.map { _ in Self.early(&random) }
    self.steps = steps.map { _ in Self.result(&random) }
    self.recovers = recovers.map { _ in Self.result(&random) }
    undoProblems = Int.random(in: 0..<6, using: &random) == 0
    for need in 0..<needs { arranges["need \(need)"] = Self.arrangement(&random) }
    for (number, step) in steps.enumerated() where step.kind == .arrange {
      arranges["steps \(number)"] = Self.arrangement(&random)
    }
    for (number, step) in recovers.enumerated() where step.kind == .arrange {
      arranges["recovers \(number)"] = Self.arrangement(&random)
    }
  }

  private static func steps(_ random: inout SeededRandom) -> [Judge.PlannedStep] {
    var kinds: [Judge.PlannedStep.Kind] = []
    var open: [String] = []
    for number in 0..<Int.random(in: 0...6, using: &random) {
      switch Int.random(in: 0..<4, using: &random) {
      case 0: kinds.append(.arrange)
      case 1:
        open.append("r\(number)")
        kinds.append(.start("r\(number)"))
      case 2 where !open.isEmpty: kinds.append(.finish(open.removeFirst()))
      default: kinds.append(.plain)
      }
    }
    return (kinds + open.map { .finish($0) }).enumerated().map { .init(kind: $1, line: 10 + $0) }
  }

  private static func early(_ random: inout SeededRandom) -> StepResult {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: .noMeans("no means")
    case 1: .broken("broken")
    default: .held(came: nil)
    }
  }

  private static func result(_ random: inout SeededRandom) -> StepResult {
    switch Int.random(in: 0..<14, using: &random) {
    case 0: .failed(expected: "a", came: "b")
    case 1: .broken("broken")
    case 2: .noMeans("no means")
    default: .held(came: nil)
    }
  }

  private static func arrangement(_ random: inout SeededRandom) -> Arrangement? {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: nil
    case 1: Arrangement(state: .unlocked, back: .state(.locked), moment: .atTheEnd)
    default: Arrangement(state: .inBackground, back: .state(.inFront), moment: .beforeRecovers)
    }
  }
}

/// What was seen of a story that was played to its end.
private struct Telling {
  var judgement: Judgement?
  var commands: [Judge.Command] = []
  var arrangements: [Arrangement] = []
  var stopped = false

  var undone: [Int] { commands.compactMap { if case .undo(let number) = $0 { number } else { nil } } }

  func results(_ phase: Judge.Phase) -> [StepResult] {
    commands.compactMap { if case .report(phase, _, let result, _) = $0 { result } else { nil } }
  }

  /// Plays a story: what is under way ends in an order of the teller's choosing.
  init(_ story: Story, _ random: inout SeededRandom, stopAfter: Int? = nil) {
    var judge = Judge(story.plan)
    // What the one thing in hand still has to report, in order; and what runs beside it.
    var hand: [Judge.Event] = [.begin]
    var beside: [Judge.Event] = []
    for moment in 0..<500 {
      if moment == stopAfter {
        stopped = true
        take(judge.take(.stopped, at: .zero), story, &hand, &beside)
      }
      if judgement != nil { return }
      let choosesBeside = !beside.isEmpty && (hand.isEmpty || Bool.random(using: &random))
      if choosesBeside {
        let event = beside.remove(at: Int.random(in: beside.indices, using: &random))
        take(judge.take(event, at: .zero), story, &hand, &beside)
      } else if !hand.isEmpty {
        let event = hand.removeFirst()
        if case .arranging(let arrangement) = event { arrangements.append(arrangement) }
        take(judge.take(event, at: .zero), story, &hand, &beside)
      } else {
        return
      }
    }
  }

  private mutating func take(
    _ new: [Judge.Command], _ story: Story, _ hand: inout [Judge.Event], _ beside: inout [Judge.Event]
  ) {
    commands += new
    for command in new {
      switch command {
      case .survey: hand.append(.surveyed(story.survey))
      case .meet(let number):
        if let arrangement = story.arranges["need \(number)"] { hand.append(.arranging(arrangement)) }
        hand.append(.need(number, story.needs[number]))
      case .run(let phase, let number):
        let isSteps = phase == .steps
        if let arrangement = story.arranges["\(isSteps ? "steps" : "recovers") \(number)"] {
          hand.append(.arranging(arrangement))
        }
        let steps = isSteps ? story.plan.steps : story.plan.recovers
        let results = isSteps ? story.steps : story.recovers
        if case .start(let name) = steps[number].kind {
          hand.append(.step(phase, number, .held(came: nil), took: .zero))
          let finish = steps.firstIndex { $0.kind == .finish(name) } ?? 0
          beside.append(.parallel(phase, name, results[finish], took: .zero))
        } else {
          hand.append(.step(phase, number, results[number], took: .zero))
        }
      case .undo(let number): hand.append(.undone(number, problem: story.undoProblems ? "stuck" : nil))
      case .end(let judgement): self.judgement = judgement
      case .report, .abandonStarted: break
      }
    }
  }
}

@Suite struct `whatever happens, the judge` {
  @Test func `comes to a verdict, undoes each arrangement once, and never passes what failed`() throws {
    var random = SeededRandom(seed: 2_026)
    var words: Set<String> = []

    for number in 0..<4_000 {
      let story = Story(&random)
      let stop = Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 0..<20, using: &random) : nil
      let told = Telling(story, &random, stopAfter: stop)

      let judgement = try #require(told.judgement, "story \(number) has no end: \(story) \(told.commands)")
      words.insert("\(judgement.word)")
      let failed = (told.results(.steps) + told.results(.recovers)).contains { !$0.isHeld }
      let early = [story.survey] + story.needs
      let isWhole =
        told.results(.steps).count == story.plan.steps.count
        && told.results(.recovers).count == story.plan.recovers.count && early.allSatisfy(\.isHeld)
      try #require(told.undone.sorted() == Array(told.arrangements.indices), "story \(number): \(told.commands)")
      try #require(judgement.word != .passed || (!failed && isWhole && !(story.undoProblems && !told.undone.isEmpty)))
      try #require(judgement.word == .passed || judgement.message != nil)
      if told.results(.steps).contains(where: { if case .failed = $0 { true } else { false } }) {
        try #require(judgement.word == .failed, "story \(number)")
      }
      if judgement.word == .skipped { try #require(told.results(.recovers).isEmpty) }
    }

    #expect(words == ["passed", "failed", "skipped", "error"])
  }

  @Test func `says the same in whatever order things that run side by side report`() throws {
    var random = SeededRandom(seed: 7)
    var several = 0

    for number in 0..<600 {
      let story = Story(&random)
      let judgements = (0..<4).map { _ in Telling(story, &random) }.map { ($0.judgement, $0.results(.steps)) }

      for (judgement, results) in judgements {
        try #require(judgement == judgements[0].0, "story \(number): \(story)")
        try #require(results == judgements[0].1, "story \(number): \(story)")
      }
      if story.plan.steps.contains(where: { if case .start = $0.kind { true } else { false } }) { several += 1 }
    }

    #expect(several > 150)
  }

  @Test func `undoes what is last arranged first, and before it looks for recovery`() throws {
    var random = SeededRandom(seed: 11)

    for number in 0..<1_000 {
      let told = Telling(Story(&random), &random)
      let recovery = told.commands.firstIndex { if case .run(.recovers, _) = $0 { true } else { false } }
      let positions = told.commands.enumerated().compactMap { index, command -> (Int, Int)? in
        if case .undo(let number) = command { (index, number) } else { nil }
      }
      guard let recovery else { continue }
      for (index, arrangement) in positions where index > recovery {
        // Arranged for the whole scenario, or by `recovers` itself.
        let isOwn = told.arrangements[arrangement].moment == .atTheEnd
        let isRecovers = arrangement > (positions.filter { $0.0 < recovery }.map(\.1).max() ?? -1)
        try #require(isOwn || isRecovers, "story \(number): \(told.commands)")
      }
      let before = positions.filter { $0.0 < recovery }.map(\.1)
      try #require(before == before.sorted(by: >), "story \(number)")
    }
  }

  @Test func `takes any list of events without harm`() {
    var random = SeededRandom(seed: 3)
    let results: [StepResult] = [
      .held(came: nil), .failed(expected: "a", came: "b"), .broken("c"), .noMeans("d"), .stopped,
    ]
    for _ in 0..<1_000 {
      let story = Story(&random)
      var judge = Judge(story.plan)
      var ends = 0
      for _ in 0..<30 {
        let number = Int.random(in: -1..<7, using: &random)
        let result = results[Int.random(in: results.indices, using: &random)]
        let phase: Judge.Phase = Bool.random(using: &random) ? .steps : .recovers
        let events: [Judge.Event] = [
          .begin, .surveyed(result), .need(number, result), .step(phase, number, result, took: .zero), .stopped,
          .arranging(Arrangement(state: .locked, back: .state(.unlocked), moment: .beforeRecovers)),
          .parallel(phase, "r\(number)", result, took: .zero), .undone(number, problem: nil),
        ]
        let commands = judge.take(events[Int.random(in: events.indices, using: &random)], at: .zero)
        ends += commands.count { if case .end = $0 { true } else { false } }
      }
      #expect(ends <= 1)
    }
  }
}
