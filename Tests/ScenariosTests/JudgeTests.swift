import Fleet
import Testing

@testable import Scenarios

@Suite struct `the judge` {
  private typealias Played = (judgement: Judgement, commands: [Judge.Command])

  private static let step = Judge.PlannedStep(kind: .plain, line: 5)
  private static let arrange = Judge.PlannedStep(kind: .arrange, line: 4)
  private static let recover = Judge.PlannedStep(kind: .plain, line: 9)
  private static let background = Arrangement(state: .inBackground, back: .state(.inFront), moment: .beforeRecovers)
  private static let unlocked = Arrangement(state: .unlocked, back: .state(.locked), moment: .atTheEnd)
  private static let held = StepResult.held(came: nil)
  private static let wrong = StepResult.failed(expected: "409", came: "200")

  /// Feeds events, a second apart, until the judge ends.
  private func play(_ plan: Judge.Plan, _ events: [Judge.Event]) throws -> Played {
    var judge = Judge(plan)
    var commands: [Judge.Command] = []
    for (second, event) in events.enumerated() {
      commands += judge.take(event, at: .seconds(second))
      if case .end(let judgement) = commands.last { return (judgement, commands) }
    }
    throw Trouble("the judge has not ended; it waits behind \(commands)")
  }

  private func step(_ number: Int, _ result: StepResult) -> Judge.Event { .step(.steps, number, result, took: .zero) }
  private func recover(_ result: StepResult) -> Judge.Event { .step(.recovers, 0, result, took: .zero) }

  @Test func `passes what held to the end, and measures the recovery`() throws {
    let plan = Judge.Plan(needs: [3], steps: [Self.arrange, Self.step], recovers: [Self.recover])

    let (judgement, commands) = try play(
      plan,
      [
        .begin, .surveyed(Self.held), .need(0, Self.held), .arranging(Self.background), step(0, Self.held),
        step(1, Self.held), .undone(0, problem: nil), recover(Self.held),
      ])

    #expect(judgement == Judgement(word: .passed, message: nil, line: nil, recovery: .seconds(1)))
    #expect(
      commands == [
        .survey, .meet(0), .run(.steps, 0), .report(.steps, 0, Self.held, took: .zero), .run(.steps, 1),
        .report(.steps, 1, Self.held, took: .zero), .abandonStarted, .undo(0), .run(.recovers, 0),
        .report(.recovers, 0, Self.held, took: .zero), .abandonStarted, .end(judgement),
      ])
  }

  @Test func `fails a false expectation, and lets the app recover all the same`() throws {
    let plan = Judge.Plan(needs: [], steps: [Self.arrange, Self.step, Self.step], recovers: [Self.recover])

    let (judgement, commands) = try play(
      plan,
      [
        .begin, .surveyed(Self.held), .arranging(Self.background), step(0, Self.held), step(1, Self.wrong),
        .undone(0, problem: nil), recover(Self.held),
      ])

    #expect(judgement.word == .failed)
    #expect(judgement.message == "expected 409; came 200")
    #expect(judgement.line == 5)
    #expect(judgement.recovery == .seconds(1))
    #expect(!commands.contains(.run(.steps, 2)))
  }

  @Test func `fails an app that does not recover`() throws {
    let plan = Judge.Plan(needs: [], steps: [Self.step], recovers: [Self.recover])

    let (judgement, _) = try play(plan, [.begin, .surveyed(Self.held), step(0, Self.held), recover(Self.wrong)])

    #expect(judgement.word == .failed)
    #expect(judgement.message == "it did not recover: expected 409; came 200")
    #expect(judgement.line == 9)
    #expect(judgement.recovery == nil)
  }

  @Test func `skips a scenario whose need is not met, and undoes what it had begun`() throws {
    let plan = Judge.Plan(needs: [3, 3], steps: [Self.step], recovers: [Self.recover])

    let (judgement, commands) = try play(
      plan,
      [
        .begin, .surveyed(Self.held), .arranging(Self.unlocked), .need(0, Self.held), .need(1, .noMeans("no grant")),
        .undone(0, problem: nil),
      ])

    #expect(judgement == Judgement(word: .skipped, message: "no grant", line: 3, recovery: nil))
    #expect(commands.contains(.undo(0)))
    #expect(!commands.contains(.run(.recovers, 0)))
  }

  @Test func `skips a state without means only before anything is arranged`() throws {
    let plan = Judge.Plan(needs: [], steps: [Self.arrange, Self.arrange], recovers: [Self.recover])

    let first = try play(plan, [.begin, .surveyed(Self.held), step(0, .noMeans("refused"))])
    let second = try play(
      plan,
      [
        .begin, .surveyed(Self.held), .arranging(Self.background), step(0, Self.held), step(1, .noMeans("refused")),
        .undone(0, problem: nil), recover(Self.held),
      ])

    #expect(first.judgement == Judgement(word: .skipped, message: "refused", line: 4, recovery: nil))
    #expect(second.judgement.word == .error)
  }

  @Test func `calls a broken harness an error, also when the app then fails to recover`() throws {
    let plan = Judge.Plan(needs: [], steps: [Self.step], recovers: [Self.recover])

    let (judgement, _) = try play(
      plan, [.begin, .surveyed(Self.held), step(0, .broken("the cable")), recover(Self.wrong)])

    #expect(judgement.word == .error)
    #expect(judgement.message == "the cable; afterwards: expected 409; came 200")
  }

  @Test func `runs nothing on a phone that cannot be reached`() throws {
    let plan = Judge.Plan(needs: [3], steps: [Self.step], recovers: [Self.recover])

    let (judgement, commands) = try play(plan, [.begin, .surveyed(.broken("gone"))])

    #expect(judgement == Judgement(word: .error, message: "gone", line: nil, recovery: nil))
    #expect(commands == [.survey, .abandonStarted, .end(judgement)])
  }

  @Test func `calls it an error when something stays arranged`() throws {
    let plan = Judge.Plan(needs: [], steps: [Self.arrange], recovers: [Self.recover])

    let (judgement, _) = try play(
      plan,
      [
        .begin, .surveyed(Self.held), .arranging(Self.background), step(0, Self.held),
        .undone(0, problem: "hall is still locked"), recover(Self.held),
      ])

    #expect(judgement.word == .error)
    #expect(judgement.message == "not undone: hall is still locked")
  }

  @Test func `blames no app for not recovering from what was not undone before`() throws {
    let plan = Judge.Plan(needs: [], steps: [Self.arrange], recovers: [Self.recover])
    let stuck: [Judge.Event] = [.undone(0, problem: "hall is still locked"), recover(Self.wrong)]
    let late: [Judge.Event] = [recover(Self.wrong), .undone(0, problem: "hall is not locked")]

    let (before, _) = try play(
      plan, [.begin, .surveyed(Self.held), .arranging(Self.background), step(0, Self.held)] + stuck)
    let (after, _) = try play(
      plan, [.begin, .surveyed(Self.held), .arranging(Self.unlocked), step(0, Self.held)] + late)

    #expect(before.word == .error)
    #expect(before.message == "not undone: hall is still locked; afterwards: expected 409; came 200")
    #expect(before.notUndone == "hall is still locked")
    #expect(after.word == .failed)
  }

  @Test func `still skips where a state was found and nothing changed`() throws {
    let plan = Judge.Plan(needs: [], steps: [Self.arrange, Self.arrange], recovers: [Self.recover])
    var found = Self.background
    found.wasFound = true

    let (judgement, commands) = try play(
      plan,
      [
        .begin, .surveyed(Self.held), .arranging(found), step(0, Self.held), step(1, .noMeans("refused")),
        .undone(0, problem: nil),
      ])

    #expect(judgement.word == .skipped)
    #expect(commands.contains(.undo(0)))
  }

  @Test func `undoes the last first, and what the scenario stands on after it has recovered`() throws {
    let plan = Judge.Plan(needs: [3], steps: [Self.arrange, Self.arrange], recovers: [Self.recover])
    let locked = Arrangement(state: .locked, back: .state(.unlocked), moment: .beforeRecovers)

    let (_, commands) = try play(
      plan,
      [
        .begin, .surveyed(Self.held), .arranging(Self.unlocked), .need(0, Self.held), .arranging(Self.background),
        step(0, Self.held), .arranging(locked), step(1, Self.held), .undone(2, problem: nil),
        .undone(1, problem: nil), recover(Self.held), .undone(0, problem: nil),
      ])

    let undone = commands.filter { if case .undo = $0 { true } else { $0 == .run(.recovers, 0) } }
    #expect(undone == [.undo(2), .undo(1), .run(.recovers, 0), .undo(0)])
  }

  @Test func `lets a started request count at its finish, whenever it ended`() throws {
    let plan = Judge.Plan(
      needs: [],
      steps: [.init(kind: .start("clip"), line: 4), Self.step, .init(kind: .finish("clip"), line: 6)], recovers: [])
    let early: [Judge.Event] = [
      .begin, .surveyed(Self.held), .parallel(.steps, "clip", Self.wrong, took: .seconds(4)), step(0, Self.held),
      step(1, Self.held),
    ]
    let late: [Judge.Event] = [
      .begin, .surveyed(Self.held), step(0, Self.held), step(1, Self.held),
      .parallel(.steps, "clip", Self.wrong, took: .seconds(4)),
    ]

    let judgements = try [early, late].map { try play(plan, $0).judgement }

    #expect(judgements[0] == judgements[1])
    #expect(judgements[0].word == .failed)
    #expect(judgements[0].line == 6)
    #expect(try play(plan, early).commands.contains(.report(.steps, 2, Self.wrong, took: .seconds(4))))
  }

  @Test func `hears late word of an abandoned request no more`() throws {
    let clip = [Judge.PlannedStep(kind: .start("clip"), line: 4), .init(kind: .finish("clip"), line: 6)]
    let plan = Judge.Plan(needs: [], steps: [clip[0], Self.step, clip[1]], recovers: clip)

    let (judgement, commands) = try play(
      plan,
      [
        .begin, .surveyed(Self.held), step(0, Self.held), step(1, Self.wrong),
        .parallel(.steps, "clip", Self.wrong, took: .zero), .step(.recovers, 0, Self.held, took: .zero),
        .parallel(.recovers, "clip", Self.held, took: .zero),
      ])

    #expect(judgement.word == .failed)
    #expect(commands.contains(.report(.recovers, 1, Self.held, took: .zero)))
  }

  @Test func `when stopped undoes and ends, without a pass and without waiting for the app`() throws {
    let plan = Judge.Plan(needs: [], steps: [Self.arrange, Self.step], recovers: [Self.recover])

    let (judgement, commands) = try play(
      plan,
      [
        .begin, .surveyed(Self.held), .arranging(Self.background), step(0, Self.held), .stopped, step(1, .stopped),
        .undone(0, problem: nil),
      ])

    #expect(judgement.word == .error)
    #expect(judgement.message == "the run was stopped before it was judged")
    #expect(commands.filter { $0 == .undo(0) }.count == 1)
    #expect(!commands.contains(.run(.recovers, 0)))
  }

  @Test func `does not take back a verdict that was complete when it was stopped`() throws {
    let plan = Judge.Plan(needs: [3], steps: [Self.step], recovers: [Self.recover])

    let (judgement, _) = try play(
      plan,
      [
        .begin, .surveyed(Self.held), .arranging(Self.unlocked), .need(0, Self.held), step(0, Self.held),
        recover(Self.held), .stopped, .undone(0, problem: nil),
      ])

    #expect(judgement.word == .passed)
  }
}

@Suite struct `the exit code of a run` {
  @Test(arguments: [
    ([Verdict.passed, .passed], 0), ([.passed, .flaky], 0), ([.passed, .skipped], 0),
    ([.passed, .quarantined], 0), ([.passed, .failed, .error, .skipped], 1), ([.passed, .error, .skipped], 3),
    ([.error], 3), ([.skipped, .quarantined], 4), ([], 4), ([.failed, .quarantined], 1),
  ])
  func `is 1 over 3 over 4`(_ verdicts: [Verdict], _ code: Int) {
    var counts = VerdictCounts()
    for verdict in verdicts { counts.add(verdict) }

    #expect(counts.exitCode.number == Int32(code))
  }
}
