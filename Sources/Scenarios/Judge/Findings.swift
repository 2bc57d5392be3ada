/// What an attempt has shown so far, and the verdict that follows from it.
struct Findings: Sendable {
  private struct Finding: Sendable {
    var message: String
    var line: Int?
  }

  private(set) var surveyHeld = true
  private(set) var needsHeld = true
  private var skipped: Finding?
  private var failedSteps: Finding?
  private var brokenSteps: Finding?
  private var failedRecovers: Finding?
  private var brokenRecovers: Finding?
  private var undoProblems: [String] = []
  /// `recovers` looked at an app that nothing had brought back to where it can answer.
  private var recoversWereInVain = false
  var recovery: Duration?

  var isSkipped: Bool { skipped != nil }

  mutating func survey(_ result: StepResult) {
    surveyHeld = result.isHeld
    early(result, line: nil)
  }

  mutating func need(_ result: StepResult, line: Int) {
    needsHeld = needsHeld && result.isHeld
    early(result, line: line)
  }

  /// - Parameter canSkip: nothing has been changed yet.
  mutating func step(_ phase: Judge.Phase, _ result: StepResult, line: Int, canSkip: Bool) {
    switch (result, phase) {
    case (.held, _), (.stopped, _): break
    case (.failed(let expected, let came), .steps):
      failedSteps = failedSteps ?? Finding(message: Self.sentence(expected, came), line: line)
    case (.failed(let expected, let came), .recovers):
      failedRecovers = failedRecovers ?? Finding(message: Self.sentence(expected, came), line: line)
    case (.noMeans(let sentence), .steps) where canSkip:
      skipped = skipped ?? Finding(message: sentence, line: line)
    case (.broken(let sentence), .steps), (.noMeans(let sentence), .steps):
      brokenSteps = brokenSteps ?? Finding(message: sentence, line: line)
    case (.broken(let sentence), .recovers), (.noMeans(let sentence), .recovers):
      brokenRecovers = brokenRecovers ?? Finding(message: sentence, line: line)
    }
  }

  mutating func undo(_ problem: String, beforeRecovers: Bool) {
    undoProblems.append(problem)
    recoversWereInVain = recoversWereInVain || beforeRecovers
  }

  /// Before the first step nothing can have failed: it is either skipped or broken.
  private mutating func early(_ result: StepResult, line: Int?) {
    switch result {
    case .held, .stopped: break
    case .noMeans(let sentence): skipped = skipped ?? Finding(message: sentence, line: line)
    case .broken(let sentence): brokenSteps = brokenSteps ?? Finding(message: sentence, line: line)
    case .failed(let expected, let came):
      skipped = skipped ?? Finding(message: "needs \(expected), but \(came)", line: line)
    }
  }

  /// A false expectation outweighs everything, but only where the scenario had been brought about: `recovers` after steps
  /// that broke says nothing about the app, and neither does `recovers` where the undo before it did not work.
  func judgement(stopped: Bool) -> Judgement {
    var judgement = verdict(stopped: stopped)
    judgement.notUndone = undoProblems.isEmpty ? nil : undoProblems.joined(separator: "; ")
    return judgement
  }

  private func verdict(stopped: Bool) -> Judgement {
    if let failedSteps {
      let more = failedRecovers.map { "; and it did not recover: \($0.message)" } ?? ""
      return word(.failed, failedSteps, more)
    }
    if let brokenSteps {
      let more = (failedRecovers ?? brokenRecovers).map { "; afterwards: \($0.message)" } ?? ""
      return word(.error, brokenSteps, more)
    }
    if let failedRecovers, recoversWereInVain {
      let message = "not undone: \(undoProblems.joined(separator: "; ")); afterwards: \(failedRecovers.message)"
      return Judgement(word: .error, message: message, line: failedRecovers.line, recovery: recovery)
    }
    if let failedRecovers { return word(.failed, failedRecovers, "", "it did not recover: ") }
    if let brokenRecovers { return word(.error, brokenRecovers, "") }
    if let problem = undoProblems.first {
      return Judgement(word: .error, message: "not undone: \(problem)", line: nil, recovery: recovery)
    }
    if let skipped { return word(.skipped, skipped, "") }
    if stopped {
      return Judgement(word: .error, message: "the run was stopped before it was judged", line: nil, recovery: nil)
    }
    return Judgement(word: .passed, message: nil, line: nil, recovery: recovery)
  }

  private func word(
    _ word: Judgement.Word, _ finding: Finding, _ more: String, _ before: String = ""
  ) -> Judgement {
    let undo = undoProblems.isEmpty ? "" : "; not undone: \(undoProblems.joined(separator: "; "))"
    return Judgement(
      word: word, message: before + finding.message + more + undo, line: finding.line, recovery: recovery)
  }

  private static func sentence(_ expected: String, _ came: String) -> String { "expected \(expected); came \(came)" }
}
