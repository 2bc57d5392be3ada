import DeviceBridge
import Wire

/// How a door that did not answer was silent: the reasons of `silent` and of `launched-no-answer`.
public enum DoorSilence: String, Sendable, CaseIterable {
  /// Nothing listens.
  case refused
  /// No byte by the deadline.
  case noAnswer = "no-answer"
  /// Something came, and was no complete, well-formed response.
  case badReply = "bad-reply"

  public var reason: OutcomeReason {
    switch self {
    case .refused: .refused
    case .noAnswer: .noAnswer
    case .badReply: .badReply
    }
  }
}

/// One look at the door, judged: a complete response of any status is an answer, all else is silence.
public enum DoorLook: Equatable, Sendable {
  case answered(detail: String)
  case silent(DoorSilence, detail: String)
  /// Not the app's doing.
  case unreachable(PhoneError)

  public init(_ answer: DoorAnswer) {
    switch answer.ending {
    case .response(let message): self = .answered(detail: Self.detail(message))
    case .refused: self = .silent(.refused, detail: "nothing listens on its port")
    case .silent(let received, let detail): self = .silent(received == 0 ? .noAnswer : .badReply, detail: detail)
    case .badReply(let detail): self = .silent(.badReply, detail: detail)
    case .unreachable(let error): self = .unreachable(error)
    }
  }

  private static func detail(_ message: HTTPMessage) -> String {
    let answered = "it answered \(message.status)"
    // A hello is small; what is not need not be understood.
    guard message.body.count <= 1 << 16, JSON(parsing: message.body)?["active"] == false else { return answered }
    return "\(answered), with another app in front"
  }
}

/// One look at the hands' driver.
public enum HandsLook: Equatable, Sendable {
  /// It answers on its port.
  case running
  /// The port is refused.
  case absent
  /// Anything else.
  case unknown(detail: String)
  case unreachable(PhoneError)

  public init(_ answer: DoorAnswer) {
    switch answer.ending {
    case .response: self = .running
    case .refused: self = .absent
    case .silent(_, let detail), .badReply(let detail): self = .unknown(detail: detail)
    case .unreachable(let error): self = .unreachable(error)
    }
  }
}
