import Transport

/// The virtual phones' time: everything a phone waits for by itself passes through it.
protocol PhoneClock: Sendable {
  /// Phone time since the fleet started.
  var now: Duration { get }
  /// Waits until `moment` in phone time, or until the latch opens.
  ///
  /// - Returns: false when the latch opened first.
  func wait(until moment: Duration, unless latch: Latch) -> Bool
  /// The host's moment at which so much phone time will have gone by; for waits on sockets.
  func deadline(after span: Duration) -> Deadline
}

extension PhoneClock {
  /// Lets phone time pass; a cable's connection that ends meanwhile ends the wait.
  ///
  /// - Parameter socket: nil: nothing tells that the connection has ended.
  func rest(_ span: Duration, on socket: Socket?) throws(StreamError) {
    guard let socket else {
      _ = Latch().wait(until: deadline(after: span))
      return
    }
    do throws(StreamError) {
      try socket.wait(for: 0, by: deadline(after: span))
    } catch .timedOut {
      return
    }
    throw .closed
  }
}

/// The host's clock, running `scale` times as fast.
struct ScaledClock: PhoneClock {
  private let scale: Double
  private let start = ContinuousClock.now

  init(scale: Double = 1) { self.scale = scale }

  var now: Duration { (ContinuousClock.now - start) * scale }

  func wait(until moment: Duration, unless latch: Latch) -> Bool {
    let left = moment - now
    return !latch.wait(until: .after(left > .zero ? left / scale : .zero))
  }

  func deadline(after span: Duration) -> Deadline { .after(span / scale) }
}
