/// What the process tells its caller.
enum ExitCode: Equatable, Sendable {
  case done
  /// The answer is no.
  case no
  /// Usage, configuration or a scenario file is wrong; nothing ran.
  case usage
  /// The harness could not do its work.
  case harness
  case nothingJudged
  /// A bug of ours.
  case bug
  case signal(Int32)

  var number: Int32 {
    switch self {
    case .done: 0
    case .no: 1
    case .usage: 2
    case .harness: 3
    case .nothingJudged: 4
    case .bug: 70
    case .signal(let number): 128 + number
    }
  }
}

/// Why a command ends without having done its work.
struct Complaint: Error, Equatable, Sendable {
  var code: ExitCode
  /// Three parts: what happened, the likely cause, the next command to type. Empty where there is nobody to tell.
  var sentence: String

  init(_ code: ExitCode, _ sentence: String) {
    self.code = code
    self.sentence = sentence
  }

  init(_ error: UsageError) { self.init(.usage, error.sentence) }
}
