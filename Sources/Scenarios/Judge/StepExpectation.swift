import DeviceBridge
import Fleet
import Wire

extension Step {
  /// What must come true for the step to hold, in words; nil for steps that only do something.
  var expected: String? {
    switch action {
    case .request(let step): ExpectationText.of(step.expectation) + Self.within(step.retryWithin)
    case .finish(_, let expectation): ExpectationText.of(expectation)
    case .until(let step): Self.text(step.condition) + Self.within(step.within)
    case .lock(let step): Self.text(step.state) + Self.within(step.within)
    case .door(let step):
      (step.answers ? "the door to answer" : "the door silent") + Self.within(step.within)
        + (step.throughout.map { ", for \($0.shown)" } ?? "")
    case .revive(let step): "the outcome \(step.text)"
    case .ready(let step): ExpectationText.of(step.expectation) + Self.within(step.within)
    case .app: "a build \(text)"
    case .files(let step):
      (step.some ? "a file \(step.pattern)" : "no file \(step.pattern)") + Self.within(step.within)
    case .screen(let step):
      (step.band ? "the red band at the top of the screen" : "no red band") + Self.within(step.within)
    case .log(let step): "a line in the phone's log with '\(step.contains)'" + Self.within(step.within)
    case .arrange, .start, .launch, .wait, .person, .command: nil
    }
  }

  private static func text(_ condition: UntilStep.Condition) -> String {
    switch condition {
    case .request(let request): ExpectationText.of(request.expectation)
    case .lock(let state): text(state)
    }
  }

  private static func text(_ state: LockState) -> String { "the phone \(state.rawValue)" }

  private static func within(_ span: Duration?) -> String { span.map { ", within \($0.shown)" } ?? "" }
}
