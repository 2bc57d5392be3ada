extension Duration {
  /// As a scenario or fleet.yaml writes it: `10s`, `5m`, `1.5s`, `200ms`, `2h`, `400d`.
  ///
  /// - Returns: nil for anything else: no unit, a sign, spaces, more than nine decimals or over 10,000 days.
  public init?(text: String) {
    let digits = text.prefix { $0 == "." || ("0"..."9").contains($0) }
    let nanosecondsPerUnit: [String: Int] = [
      "ms": 1_000_000, "s": 1_000_000_000, "m": 60_000_000_000, "h": 3_600_000_000_000, "d": 86_400_000_000_000,
    ]
    guard let unit = nanosecondsPerUnit[String(text.dropFirst(digits.count))] else { return nil }
    let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }), parts[0].utf8.count <= 12,
      let whole = Int(parts[0])
    else { return nil }
    guard whole <= 864_000_000_000_000_000 / unit else { return nil }
    var nanoseconds = whole * unit
    if parts.count == 2 {
      guard parts[1].utf8.count <= 9, let fraction = Int(parts[1]) else { return nil }
      var scale = 1
      for _ in 0..<parts[1].utf8.count { scale *= 10 }
      nanoseconds += Int((Double(fraction) / Double(scale) * Double(unit)).rounded())
    }
    self = .nanoseconds(nanoseconds)
  }

  /// Whole nanoseconds; what is finer is cut off.
  public var inNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// In seconds.
  public var inSeconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }

  /// For people: `420 ms`, `1.25 s`, `12 s`, `5 min`, `2 h`, `400 days`.
  public var shown: String {
    if self == .zero { return "0 s" }
    let seconds = inSeconds
    if seconds >= 172_800, seconds.truncatingRemainder(dividingBy: 86_400) == 0 {
      return "\(Int(seconds / 86_400)) days"
    }
    if seconds >= 7_200, seconds.truncatingRemainder(dividingBy: 3_600) == 0 { return "\(Int(seconds / 3_600)) h" }
    if seconds >= 120, seconds.truncatingRemainder(dividingBy: 60) == 0 { return "\(Int(seconds / 60)) min" }
    let milliseconds = (seconds * 1000).rounded()
    if milliseconds < 1000 { return "\(Int(milliseconds)) ms" }
    let rounded = seconds >= 10 ? (seconds * 10).rounded() / 10 : (seconds * 100).rounded() / 100
    return rounded == rounded.rounded() ? "\(Int(rounded)) s" : "\(rounded) s"
  }
}
