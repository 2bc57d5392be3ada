import Glibc
import Transport
import Wire

/// A conversation with the phone that outlasts calls: on a thread, with descriptors and a session of its own, so that
/// the lane's calls need not wait for it.
final class SideTalk: Sendable {
  /// Finding the phone, a session, a service: that far a phone that hangs is waited for.
  static let openingTime = Duration.seconds(30)

  private let context: LaneContext
  private let isEnded = Guarded(false)
  private let call = Guarded<UInt64>(0)
  private let alarm = Guarded<Latch?>(nil)

  init(_ route: PhoneRoute) { context = LaneContext(route) }

  /// Runs the body on a thread of its own.
  func start(name: String, _ body: @escaping @Sendable (PhoneWork) -> Void) {
    _ = Worker(name: name) { [context] in
      context.onThisThread {
        LaneThread.blockPipeSignal()
        let work = PhoneWork(context)
        body(work)
        work.dropSession()
      }
    }
  }

  /// Runs the opening of a service, and ends it at the deadline; what it has opened lives on without one.
  ///
  /// Only on the talk's thread.
  func open<T>(
    _ step: String, by deadline: Deadline, _ body: () throws(PhoneError) -> T
  ) throws(PhoneError) -> T {
    let number = context.begin(by: deadline)
    call.with { $0 = number }
    let (udid, limit) = (context.udid, deadline.remaining)
    if isEnded.with({ $0 }) { context.cut(number, .ended(udid)) }
    let ticket = Keeper.shared.watch(deadline) { [context] in
      context.cut(number, .silent(udid, step: step, limit: limit))
    }
    defer { Keeper.shared.release(ticket) }
    let result = try body()
    // The deadline may have come in the same moment.
    if let ended = context.ended(at: step) { throw ended }
    context.goOn()
    return result
  }

  /// Waits a while, unless it is ended or woken.
  func pause(_ wait: Duration) {
    let latch = Latch()
    alarm.with { $0 = latch }
    if !hasEnded { _ = latch.wait(until: .after(wait)) }
    alarm.with { $0 = nil }
  }

  /// Ends the pause under way.
  func wake() { alarm.with { $0?.open() } }

  var hasEnded: Bool { isEnded.with { $0 } }

  /// Ends what it waits for now, and every later opening.
  func end() {
    isEnded.with { $0 = true }
    context.cut(call.with { $0 }, .ended(context.udid))
    wake()
  }
}
