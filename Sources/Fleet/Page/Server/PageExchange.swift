import CMicroHTTPD
import Transport

/// One request under way: libmicrohttpd holds it from the request's line to the answer's end.
final class PageExchange: Sendable {
  private enum Stage {
    case receiving(bytes: Int, headIsWhole: Bool)
    /// Set aside while a thread works on the answer.
    case working
    case answered(PageResponse)
    case over
  }
  private struct State: @unchecked Sendable {
    var stage = Stage.receiving(bytes: 0, headIsWhole: false)
    var connection: OpaquePointer?
  }
  /// What is to be done now.
  enum Step {
    case goOn, cut, begin
    case answer(PageResponse)
  }

  let target: [UInt8]
  private let state = Guarded(State())
  /// No request that we answer has a body; what comes anyway is thrown away.
  private static let bodyLimit = 64 << 10

  init(target: [UInt8]) { self.target = target }

  /// libmicrohttpd has called: first with the head, then with each part of a body, then without one.
  ///
  /// - Parameter bytes: of body that have come with this call.
  func called(bytes: Int) -> Step {
    state.with { state in
      switch state.stage {
      case .receiving(_, headIsWhole: false):
        state.stage = .receiving(bytes: 0, headIsWhole: true)
        return .goOn
      case .receiving(let sum, headIsWhole: true) where bytes > 0:
        state.stage = .receiving(bytes: sum + bytes, headIsWhole: true)
        return sum + bytes <= Self.bodyLimit ? .goOn : .cut
      case .receiving(_, headIsWhole: true): return .begin
      case .answered(let response):
        state.stage = .over
        return .answer(response)
      case .working: return .goOn
      case .over: return .cut
      }
    }
  }

  /// Sets the client aside until `finish`.
  func setAside(_ connection: OpaquePointer) {
    state.with { state in
      state.stage = .working
      state.connection = connection
      MHD_suspend_connection(connection)
    }
  }

  /// The answer that came first counts.
  func finish(_ response: PageResponse) {
    state.with { state in
      guard case .working = state.stage, let connection = state.connection else { return }
      state.stage = .answered(response)
      state.connection = nil
      MHD_resume_connection(connection)
    }
  }
}
