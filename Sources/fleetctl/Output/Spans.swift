/// Durations as numbers, for JSON.
extension Duration {
  /// Seconds, rounded to the millisecond.
  var roundedSeconds: Double { milliseconds(roundedTo: 1) / 1000 }

  /// Milliseconds, rounded to a tenth.
  var milliseconds: Double { milliseconds(roundedTo: 0.1) }

  private func milliseconds(roundedTo unit: Double) -> Double {
    let exact = Double(components.seconds) * 1000 + Double(components.attoseconds) * 1e-15
    // Divided, not multiplied, by a whole number: 0.1 has no exact form, and its multiples print with long tails.
    let steps = (1 / unit).rounded()
    return (exact * steps).rounded() / steps
  }
}
