import DeviceBridge

/// What a revival is done with: the phone, its lock, the stamps and the clock.
public protocol ReviveMeans: Sendable {
  /// Does one thing and says what came of it. Nothing takes longer than its own limit.
  func carryOut(_ command: ReviveCommand) async throws(CancellationError) -> ReviveEvent
  /// Lets go of the phone.
  func finish()
}

/// Why a revival came to no outcome.
public enum RevivalError: Error, Equatable, Sendable {
  /// The task was cancelled, or the link to the phone closed.
  case interrupted
  /// What the configuration asks to be sent can't be.
  case impossible(PhoneError)
}

/// Brings one body back, once: the procedure, with the world as its means.
public struct Revival: Sendable {
  private let body: Body
  private let rules: ReviveRules
  private let means: any ReviveMeans
  private let clock: any HostClock

  /// - Parameter rules: by default those for a person's asking.
  public init(
    _ body: Body, rules: ReviveRules? = nil, means: any ReviveMeans, clock: any HostClock = SystemClock()
  ) {
    self.body = body
    self.rules = rules ?? ReviveRules(body)
    self.means = means
    self.clock = clock
  }

  /// Runs to the end; the phone is let go of then, whatever the end is.
  ///
  /// - Parameter onStep: told what is done next.
  /// - Throws: `.interrupted` when the task is cancelled; a launch that was sent by then stays stamped.
  public func run(onStep: @Sendable (ReviveCommand) -> Void = { _ in }) async throws(RevivalError) -> OutcomeReport {
    defer { means.finish() }
    var procedure = ReviveProcedure(rules)
    var next = procedure.begin(at: clock.now)
    while let command = next {
      guard !Task.isCancelled else { throw .interrupted }
      onStep(command)
      let event: ReviveEvent
      do { event = try await means.carryOut(command) } catch { throw .interrupted }
      next = procedure.handle(event, at: clock.now)
    }
    switch procedure.ending {
    case .judged(let judgement), .leftForNow(let judgement):
      return OutcomeReport(judgement, of: body, at: clock.wall)
    case .broken(let error):
      if case .ended = error { throw .interrupted }
      throw .impossible(error)
    case nil: throw .interrupted
    }
  }
}
