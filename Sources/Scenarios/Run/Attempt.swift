import DeviceBridge
import Fleet
import Transport

/// Performs what the judge of one scenario on one body says, and tells it what came.
final class Attempt: Sendable {
  private let scene: Scene
  private let report: @Sendable (Step, StepResult, Duration) async -> Void
  private let events: AsyncStream<Judge.Event>
  private let feed: AsyncStream<Judge.Event>.Continuation
  private let arranger: Arranger
  private let tasks = Guarded(Tasks())

  /// What is under way and ends when the run is stopped.
  private struct Tasks {
    var isStopped = false
    var current: Task<Void, Never>?
    var started: [Task<Void, Never>] = []
  }

  /// - Parameter report: called for each step that ended, one after another.
  init(_ scene: Scene, report: @escaping @Sendable (Step, StepResult, Duration) async -> Void) {
    self.scene = scene
    self.report = report
    let (events, feed) = AsyncStream<Judge.Event>.makeStream()
    self.events = events
    self.feed = feed
    arranger = Arranger(scene) { feed.yield(.arranging($0)) }
  }

  /// Runs the scenario to its judgement. A cancelled task stops the steps; what was arranged is undone all the same.
  func judgement() async -> Judgement {
    // A task of its own, since an undo must not be cancelled with the run.
    let loop = Task { await listen() }
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
          Task { feed.yield(.undone(number, problem: await arranger.undo(arrangement))) }
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
      needs: scene.scenario.needs.map(\.line), steps: scene.scenario.steps.map(\.planned),
      recovers: scene.scenario.recovers.map(\.planned))
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
    if case .start(let name, let request) = step.action { start(name, request, phase) }
    perform { [self] in
      return .step(phase, number, heard(await run(step)), took: scene.clock.now - began)
    }
  }

  private func run(_ step: Step) async -> StepResult {
    let runner = StepRunner(scene: scene)
    switch step.action {
    case .arrange(let state): return await arranger.arrange(state)
    case .request(let request): return await runner.request(request)
    case .start: return .held(came: nil)
    // The judge takes what the started request reports; it never runs this step.
    case .finish: return .broken("nothing was started")
    case .until(let until): return await runner.until(until)
    case .launch(let launch): return await runner.launch(launch)
    case .lock(let lock): return await runner.lock(lock)
    case .door(let door): return await runner.door(door)
    case .wait(let span): return await runner.wait(span)
    }
  }

  /// Sends a request that goes on beside the steps, and holds it against what its `finish` expects.
  private func start(_ name: String, _ request: RequestStep, _ phase: Judge.Phase) {
    var request = request
    for case .finish(name, let expectation) in steps(of: phase).map(\.action) { request.expectation = expectation }
    let task = Task { [feed, scene, request] in
      let began = scene.clock.now
      let result = await StepRunner(scene: scene).request(request)
      feed.yield(.parallel(phase, name, result, took: scene.clock.now - began))
    }
    tasks.with { tasks in
      tasks.started.append(task)
      if tasks.isStopped { task.cancel() }
    }
  }

  /// Whether the phone is there, and every state that is arranged can be reached and left again.
  private func survey() async -> StepResult {
    let visit = await unlessCancelled { [scene] in await scene.link.facts(by: .after(Scene.lookLimit)) }
    guard let facts = visit else { return .stopped }
    // What the lock keeps from being read is for the needs to say.
    if let error = facts.error, !error.isBeforeFirstUnlock { return .broken(error.sentence) }
    if let ios = facts.ios { scene.ios = ios }
    for step in scene.scenario.steps + scene.scenario.recovers {
      guard case .arrange(let state) = step.action, let sentence = arranger.lacking(state) else { continue }
      // A state that a kiosk rests in and is in already needs no means.
      if state.wayBack == nil {
        switch await scene.read(state) {
        case .holds: continue
        case .unreachable(let sentence): return .broken(sentence)
        case .denied, .unreadable: break
        }
      }
      return .noMeans(sentence)
    }
    return .held(came: nil)
  }
}

extension Step {
  fileprivate var planned: Judge.PlannedStep {
    let kind: Judge.PlannedStep.Kind =
      switch action {
      case .arrange: .arrange
      case .start(let name, _): .start(name)
      case .finish(let name, _): .finish(name)
      case .request, .until, .launch, .lock, .door, .wait: .plain
      }
    return Judge.PlannedStep(kind: kind, line: line)
  }
}
