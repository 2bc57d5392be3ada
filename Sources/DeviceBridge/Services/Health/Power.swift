/// Charge and temperature of a phone's battery.
public struct PowerReading: Equatable, Sendable {
  /// 0...100; nil where the phone does not tell.
  public var percent: Int?
  /// Degrees Celsius; nil where the phone does not tell.
  public var temperature: Double?
  /// How long ago the phone was asked.
  public var age: Duration

  public init(percent: Int?, temperature: Double?, age: Duration = .zero) {
    self.percent = percent
    self.temperature = temperature
    self.age = age
  }
}

/// Keeps a reading for ten minutes: these values change slowly, and asking wakes the phone.
struct PowerMemory {
  static let freshness = Duration.seconds(600)
  private var known: (reading: PowerReading, at: ContinuousClock.Instant)?

  /// - Returns: nil when the phone is to be asked.
  func reading(at now: ContinuousClock.Instant) -> PowerReading? {
    guard let known, now - known.at < Self.freshness else { return nil }
    return PowerReading(percent: known.reading.percent, temperature: known.reading.temperature, age: now - known.at)
  }

  mutating func keep(_ reading: PowerReading, at now: ContinuousClock.Instant) { known = (reading, now) }
}
