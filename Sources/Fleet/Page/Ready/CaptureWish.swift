import DeviceBridge
import Wire

/// A capture that somebody is about to ask a body for, and whether it is refused before it gets there: docs/door.md's
/// "refusing first".
public struct CaptureWish: Equatable, Sendable {
  public enum Kind: String, Sendable, CaseIterable { case photo, clip }
  public var kind: Kind
  public var camera: String

  public init(kind: Kind, camera: String) {
    self.kind = kind
    self.camera = camera
  }

  /// An HTTP status, and an object: the error's sentence, or what is ready.
  public struct Answer: Equatable, Sendable {
    public var status: Int
    public var json: JSON

    static func refusal(_ status: Int, _ sentence: String) -> Answer {
      Answer(status: status, json: ["error": .string(sentence)])
    }
  }

  /// Longer silence is refused.
  static let silenceLimit = Duration.seconds(30)

  /// `front photo`.
  private var text: String { "\(camera.oneLine(limit: 40)) \(kind.rawValue)" }

  /// What is known without asking the phone.
  ///
  /// - Returns: why it is refused; nil where the door's status has to be read.
  public func refusal(by body: BodyPresent) -> Answer? { known(body).map { .refusal(409, $0) } }

  private func known(_ body: BodyPresent) -> String? {
    if let reason = body.outOfService { return refused(body, "it is out of service: \(reason.oneLine())") }
    if let silent = body.silent, silent > Self.silenceLimit {
      return refused(body, "its door has been silent for \(PageTime.span(silent))")
    }
    if body.lock == .locked { return refused(body, "it is locked, and nobody but a person unlocks it") }
    guard let words = body.words else { return refused(body, "it has not been judged yet") }
    if !words.isWell { return refused(body, "it is \(words.text): \(words.phrase)") }
    return nil
  }

  /// What the door's status says.
  ///
  /// - Parameter answer: nil where the body is none any more.
  public func answer(by body: BodyPresent, _ answer: DoorAnswer?) -> Answer {
    switch answer?.ending {
    case .response(let message): return judge(message, body)
    case .refused: return .refusal(409, refused(body, "nothing listens on its door's port"))
    case .silent(_, let detail), .badReply(let detail):
      return .refusal(409, refused(body, "its door did not tell its status: \(detail.oneLine())"))
    case .unreachable(let error):
      return .refusal(409, refused(body, "it could not be reached. \(error.sentence.oneLine(limit: 600))"))
    case nil: return .refusal(409, refused(body, "it is no body any more, or out of service"))
    }
  }

  private func judge(_ message: HTTPMessage, _ body: BodyPresent) -> Answer {
    let json = JSON(parsing: message.body)
    guard (200..<300).contains(message.status) else {
      // The body's own word, folded: whoever asks need not know its numbers.
      let sentence = json?["error"]?.string?.oneLine() ?? "its status is answered with \(message.status)"
      return .refusal(
        message.status >= 500 ? 503 : 409, "\(body.title.oneLine()) refused a \(text): \(sentence)")
    }
    guard let json, json.object != nil else {
      return .refusal(409, refused(body, "what its door tells as its status is no JSON object"))
    }
    guard json["active"]?.boolean == true else {
      return .refusal(409, refused(body, "its app is not in front"))
    }
    let grant = json["grants"]?["camera"]?.string
    guard grant == "authorized" else {
      let state = grant.map { $0.oneLine(limit: 40) } ?? "not told"
      return .refusal(409, refused(body, "the camera grant is \(state); a person allows it once in Settings"))
    }
    guard json["cameras"]?.array?.contains(.string(camera)) == true else {
      return .refusal(409, refused(body, "it has no \(camera.oneLine(limit: 40)) camera"))
    }
    return Answer(
      status: 200,
      json: [
        "ready": true, "body": .text(body.body?.oneLine()), "udid": .string(body.udid.description.oneLine()),
        "for": .string(kind.rawValue), "camera": .string(camera),
        "capturing": .text(json["capturing"]?.string?.oneLine(limit: 40)),
      ])
  }

  /// Refused here: the body was not asked to capture anything.
  private func refused(_ body: BodyPresent, _ why: String) -> String {
    "\(body.title.oneLine()) can't take a \(text): \(why)"
  }
}
