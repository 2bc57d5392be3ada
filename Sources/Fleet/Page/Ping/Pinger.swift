import Transport
import Wire

/// Tells another machine that rounds are being completed: one ping after a completed round, at most one each `every`, one
/// at a time, on a thread of its own.
final class Pinger: Sendable {
  private struct State {
    var lastRound = 0
    /// No ping before it.
    var next = Deadline.after(.zero)
    var isOpen = false
    var sent = 0
    var failed = 0
    /// The last one failed: it is said once.
    var isFailing = false
  }
  private let state = Guarded(State())
  private let target: PingTarget
  private let every: Duration
  private let environment: [String: String]
  private let log: @Sendable (String) -> Void

  /// For one ping, from the connect to the answer's end.
  static let limit = Duration.seconds(10)

  /// - Parameter environment: what curl inherits, where it is needed.
  init(
    url: String, every: Duration, environment: [String: String], log: @escaping @Sendable (String) -> Void
  ) {
    target = PingTarget(url)
    self.environment = environment
    self.every = every
    self.log = log
  }

  /// A ping is under way.
  var isOpen: Bool { state.with { $0.isOpen } }

  var figures: (sent: Int, failed: Int) { state.with { ($0.sent, $0.failed) } }

  /// Looks whether a ping is due. It does not wait for the ping.
  func look(_ round: RoundPresent?) {
    guard let round else { return }
    let isDue = state.with { state in
      guard round.number != state.lastRound, !state.isOpen, state.next.hasPassed else { return false }
      state.lastRound = round.number
      state.isOpen = true
      state.next = .after(every)
      return true
    }
    guard isDue else { return }
    _ = Worker(name: "ping") { [self] in ended(send()) }
  }

  /// - Returns: why it failed; nil where it was answered with a 2xx.
  private func send() -> String? {
    let deadline = Deadline.after(Self.limit)
    switch target {
    case .curl(let url): return CurlPing.send(url, environment: environment, by: deadline)
    case .own(let address, let host, let target):
      do {
        let stream = try Socket.connect(to: address, by: deadline)
        defer { stream.close() }
        let answer = try HTTPCall.get(target, host: host, on: stream, limit: 1 << 20, by: deadline)
        return (200..<300).contains(answer.status) ? nil : "it is answered with \(answer.status)"
      } catch let error as StreamError {
        return error.sentence
      } catch let error as HTTPError {
        return error.sentence
      } catch {
        return "\(error)"
      }
    }
  }

  private func ended(_ failure: String?) {
    let isNews = state.with { state in
      state.isOpen = false
      state.sent += 1
      if failure != nil { state.failed += 1 }
      defer { state.isFailing = failure != nil }
      return state.isFailing != (failure != nil)
    }
    guard isNews else { return }
    // The address is a secret where its path is one, as with healthchecks' services.
    log(failure.map { "The ping after a round fails: \($0.oneLine())." } ?? "The ping after a round is answered again.")
  }
}
