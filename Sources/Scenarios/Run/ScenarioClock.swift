import Transport

/// The scenarios' time: every wait, limit and measured duration of a scenario passes through it.
public protocol ScenarioClock: Sendable {
  /// Time since some fixed moment.
  var now: Duration { get }
  /// Waits that long.
  ///
  /// - Throws: `CancellationError` when the task is cancelled meanwhile.
  func sleep(for span: Duration) async throws
  /// The moment on the host's clock at which that much of this time will have passed.
  func deadline(after span: Duration) -> Deadline
  /// How much of this time a span of the host's is.
  func span(ofHost span: Duration) -> Duration
}

/// The host's clock, running `scale` times as fast: for virtual phones that do so too.
public struct ScaledClock: ScenarioClock {
  private let scale: Double
  private let start = ContinuousClock.now

  /// - Parameter scale: above 0; 1 is the time on the wall.
  public init(scale: Double = 1) { self.scale = scale > 0 ? scale : 1 }

  public var now: Duration { (ContinuousClock.now - start) * scale }

  public func sleep(for span: Duration) async throws {
    try await ContinuousClock().sleep(for: span / scale)
  }

  public func deadline(after span: Duration) -> Deadline { .after(span / scale) }

  public func span(ofHost span: Duration) -> Duration { span * scale }
}
