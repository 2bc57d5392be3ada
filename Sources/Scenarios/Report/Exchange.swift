import DeviceBridge
import Transport

/// One request to a phone's door and what came of it, in words: the bytes of pictures and clips are never part of it.
public struct Exchange: Equatable, Sendable {
  /// When the request was sent: seconds since the attempt began, on the scenarios' clock.
  public var at: Double
  /// `METHOD PATH`, and the beginning of a body that is text.
  public var request: String
  /// Status, type and text of the answer, or why there was none.
  public var answer: String
  /// Seconds until the whole answer, or the end of the wait.
  public var seconds: Double

  public init(at: Double, request: String, answer: String, seconds: Double) {
    self.at = at
    self.request = request
    self.answer = answer
    self.seconds = seconds
  }
}

/// The exchanges of an attempt since somebody last took them. Of many the first and the last are kept.
final class ExchangeLog: Sendable {
  private static let first = 4
  private static let last = 12
  /// A request's body is shown that far.
  private static let excerpt = 200

  private struct State {
    var exchanges: [Exchange] = []
    var left = 0
  }
  private let state = Guarded(State())
  private let clock: any ScenarioClock
  private let began: Duration

  init(_ clock: any ScenarioClock) {
    self.clock = clock
    began = clock.now
  }

  func note(_ request: DoorRequest, _ ending: DoorAnswer.Ending, took: Duration) {
    let body = String(decoding: request.body.prefix(4 * Self.excerpt), as: UTF8.self)
    let shown = body.count > Self.excerpt ? "\(body.prefix(Self.excerpt))…" : body
    let exchange = Exchange(
      at: max(clock.now - began - took, .zero).roundedSeconds,
      request: AnswerText.visible("\(request.method) \(request.target)\(shown.isEmpty ? "" : " \(shown)")"),
      answer: AnswerText.of(ending), seconds: took.roundedSeconds)
    state.with { state in
      state.exchanges.append(exchange)
      guard state.exchanges.count > Self.first + Self.last else { return }
      state.exchanges.remove(at: Self.first)
      state.left += 1
    }
  }

  /// What has come since the last call, and how many of them are left out after the first ones.
  func take() -> (exchanges: [Exchange], left: Int) {
    state.with { state in
      defer { state = State() }
      return (state.exchanges, state.left)
    }
  }
}
