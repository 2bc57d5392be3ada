import DeviceBridge
import Fleet
import Transport

/// Performs what the judge of one scenario on one body says, and tells it what came.
final class Attempt: Sendable {
  let scene: Scene
  private let ledger: UndoLedger
  private let report: @Sendable (Step, StepResult, Duration) async -> Void
  private let events: AsyncStream<Judge.Event>
  private let feed: AsyncStream<Judge.Event>.Continuation
  let arranger: Arranger
  private let tasks = Guarded(Tasks())

  /// What is under way and ends when the run is stopped.
  private struct Tasks {
    var isStopped = false
    var current: Task<Void, Never>?
    var started: [Task<Void, Never>] = []
  }

  /// - Parameters:
  ///   - ledger: where it is written down what is arranged, before it is.
  ///   - report: called for each step that ended, one after another.
  init(
    _ scene: Scene, ledger: UndoLedger, report: @escaping @Sendable (Step, StepResult, Duration) async -> Void
  ) {
    self.scene = scene
    self.ledger = ledger
    self.report = report
    let (events, feed) = AsyncStream<Judge.Event>.makeStream()
    self.events = events
    self.feed = feed
    let name = scene.scenario.name
    arranger = Arranger(scene) { arrangement in
      if let trouble = await ledger.add(arrangement, scenario: name) { return trouble }
      feed.yield(.arranging(arrangement))
      return nil
    }
  }

  /// Runs the scenario to its judgement. A cancelled task stops the steps; what was arranged is undone all the same.
  func judgement() async -> Judgement {
    // A task of its own, since an undo must not be cancelled with the run.
    let loop = Task { await listen() }
    defer { scene.end() }
    return await withTaskCancellationHandler {
      await loop.value
    } onCancel: {
      feed.yield(.stopped)
      tasks.with { tasks in
        tasks.isStopped = true
        tasks.current?.cancel()
        for task in tasks.started { task.cancel() }
      }
    }
  }

  private func listen() async -> Judgement {
    var judge = Judge(plan)
    var arrangements: [Arrangement] = []
    feed.yield(.begin)
    for await event in events {
      if case .arranging(let arrangement) = event { arrangements.append(arrangement) }
      for command in judge.take(event, at: scene.clock.now) {
        switch command {
        case .end(let judgement): return judgement
        case .report(let phase, let number, let result, let took):
          await report(steps(of: phase)[number], result, took)
        case .abandonStarted: tasks.with { tasks in for task in tasks.started { task.cancel() } }
        case .undo(let number):
          let arrangement = arrangements[number]
          Task {
            let problem = await arranger.undo(arrangement)
            if problem == nil { await ledger.settle(arrangement) }
            feed.yield(.undone(number, problem: problem))
          }
        case .survey: perform { [self] in .surveyed(heard(await survey())) }
        case .meet(let number):
          perform { [self] in .need(number, heard(await arranger.arrange(need(number), asNeed: true))) }
        case .run(let phase, let number): begin(phase, number)
        }
      }
    }
    return Judgement(word: .error, message: "the run ended before its verdict", line: nil, recovery: nil)
  }
}

extension Attempt {
  private var plan: Judge.Plan {
    Judge.Plan(
      needs: scene.scenario.needs.map(\.line), steps: scene.scenario.steps.planned,
      recovers: scene.scenario.recovers.planned)
  }

  private func need(_ number: Int) -> BodyState { scene.scenario.needs[number].state }

  private func steps(of phase: Judge.Phase) -> [Step] {
    switch phase {
    case .steps: scene.scenario.steps
    case .recovers: scene.scenario.recovers
    }
  }

  private func perform(_ work: @escaping @Sendable () async -> Judge.Event) {
    let task = Task { [feed] in
      let event = await work()
      feed.yield(event)
    }
    tasks.with { tasks in
      tasks.current = task
      if tasks.isStopped { task.cancel() }
    }
  }

  /// What breaks because the run is being stopped is no finding.
  private func heard(_ result: StepResult) -> StepResult {
    guard Task.isCancelled else { return result }
    switch result {
    case .broken, .noMeans: return .stopped
    case .held, .failed, .stopped: return result
    }
  }

  private func begin(_ phase: Judge.Phase, _ number: Int) {
    let step = steps(of: phase)[number]
    let began = scene.clock.now
    if case .start(_, let request) = step.action { start(request, phase, number) }
    perform { [self] in
      return .step(phase, number, heard(await run(step)), took: scene.clock.now - began)
    }
  }

  private func run(_ step: Step) async -> StepResult {
    scene.names = step.names
    let runner = StepRunner(scene: scene)
    switch step.action {
    case .arrange(let state): return await arranger.arrange(state)
    case .request(let request): return await runner.request(request)
    case .start: return .held(came: nil)
    // The judge takes what the started request reports; it never runs this step.
    case .finish: return .broken("nothing was started")
    case .until(let until): return await runner.until(until)
    case .launch(let launch): return await runner.launch(launch)
    case .revive(let revive): return await runner.revive(revive)
    case .lock(let lock): return await runner.lock(lock)
    case .door(let door): return await runner.door(door)
    case .ready(let ready): return await runner.ready(ready)
    case .app(let app): return await runner.app(app)
    case .files(let files): return await runner.files(files)
    case .screen(let screen): return await runner.screen(screen)
    case .log(let log): return await runner.log(log)
    case .wait(let span): return await runner.wait(span)
    case .person(let person): return await runner.person(person)
    case .command(let command): return await runner.command(command)
    }
  }

  /// Sends a request that goes on beside the steps, and holds it against what its `finish` expects.
  private func start(_ request: RequestStep, _ phase: Judge.Phase, _ number: Int) {
    var request = request
    let (steps, planned) = (steps(of: phase), steps(of: phase).planned)
    guard case .start(let key) = planned[number].kind else { return }
    if let end = planned.firstIndex(where: { $0.kind == .finish(key) }),
      case .finish(_, let expectation) = steps[end].action
    {
      request.expectation = expectation
    }
    let task = Task { [feed, scene, request] in
      let began = scene.clock.now
      let result = await StepRunner(scene: scene).request(request)
      feed.yield(.parallel(phase, key, result, took: scene.clock.now - began))
    }
    tasks.with { tasks in
      tasks.started.append(task)
      if tasks.isStopped { task.cancel() }
    }
  }
}

extension [Step] {
  /// The steps as far as the judge cares. A name that is started again is another request.
  fileprivate var planned: [Judge.PlannedStep] {
    var numbers: [String: Int] = [:]
    return enumerated().map { index, step in
      let kind: Judge.PlannedStep.Kind
      switch step.action {
      case .arrange: kind = .arrange
      case .start(let name, _):
        numbers[name] = index
        kind = .start("\(name) \(index)")
      case .finish(let name, _): kind = .finish("\(name) \(numbers[name] ?? index)")
      case .request, .until, .launch, .revive, .lock, .door, .ready, .app, .files, .screen, .log, .wait, .person,
        .command:
        kind = .plain
      }
      return Judge.PlannedStep(kind: kind, line: step.line)
    }
  }
}
