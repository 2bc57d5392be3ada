/// What a process tells its caller by its end.
public enum ExitCode: Hashable, Sendable {
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

  public var number: Int32 {
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
