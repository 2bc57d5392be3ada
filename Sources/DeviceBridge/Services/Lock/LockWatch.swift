import Transport
import Wire

/// Hints that the phone's lock may have changed: read it anew then. They come from the phone's own notification, which
/// carries no state.
///
/// While the phone can't be heard (away, not trusted, before its first unlock) it is tried again with growing pauses;
/// each new beginning is a hint as well, since changes may have been missed.
public final class LockWatch: Sendable {
  /// One reader; hints that nobody has read yet are one. Ends after `stop`.
  public let hints: AsyncStream<Void>
  private let talk: SideTalk

  /// - Parameters:
  ///   - calls: closing the lane ends the watch.
  ///   - pauses: between attempts while the phone can't be heard; the last one repeats.
  init(
    _ route: PhoneRoute, _ calls: LaneCalls,
    pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(5), .seconds(10), .seconds(30)]
  ) {
    let (hints, sink) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let talk = SideTalk(route)
    self.hints = hints
    self.talk = talk
    sink.onTermination = { _ in talk.end() }
    talk.start(name: "lock watch") { work in
      let call = calls.enter { talk.end() }
      Self.run(talk, work, pauses) { sink.yield() }
      calls.leave(call)
      sink.finish()
    }
  }

  deinit { stop() }

  /// Ends the connection, the thread and the stream.
  public func stop() { talk.end() }

  /// The phone has come back or was trusted: it is tried at once, if a pause was going on.
  public func retry() { talk.wake() }

  // MARK: - On the talk's thread

  private static let lockState = "com.apple.springboard.lockstate"

  private static func run(_ talk: SideTalk, _ work: PhoneWork, _ pauses: [Duration], hint: () -> Void) {
    var failures = 0
    while !talk.hasEnded {
      do throws(PhoneError) {
        let channel = try talk.open("watching its lock", by: .after(SideTalk.openingTime)) {
          () throws(PhoneError) in
          defer { work.dropSession() }
          let channel = try work.open("com.apple.mobile.notification_proxy")
          try channel.send(["Command": "ObserveNotification", "Name": .string(lockState)])
          return channel
        }
        failures = 0
        hint()
        try hear(channel, hint)
      } catch {
        // What kept it from hearing is told by reading the lock.
      }
      if talk.hasEnded { return }
      talk.pause(pauses.isEmpty ? .seconds(1) : pauses[min(failures, pauses.count - 1)])
      failures += 1
    }
  }

  private static func hear(_ channel: ServiceChannel, _ hint: () -> Void) throws(PhoneError) {
    channel.patience = nil
    // Nothing that comes here is longer than a name.
    channel.messageLimit = 64 << 10
    while true {
      let message = try channel.receivePlist()
      switch message["Command"]?.string {
      case "RelayNotification": if message["Name"]?.string == lockState { hint() }
      case "ProxyDeath": return
      case nil, .some: continue
      }
    }
  }
}

extension PhoneLane {
  public func lockChanges() -> LockWatch { LockWatch(route, calls) }
}
