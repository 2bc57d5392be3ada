import DeviceBridge

/// Looks for the red band of docs/door.md: full width, at the top of the screen, sRGB about 0.86, 0.10, 0.12.
struct BandLook {
  /// What each part of the colour may be: screens are calibrated, and pictures of them go through colour profiles.
  static let red = 0.76...0.96
  static let green = 0.0...0.22
  static let blue = 0.02...0.24
  /// Of the screen's height: less is a hair line, more is no band.
  static let share = 0.02...0.25

  /// Rows from the top that are red from side to side.
  let height: Int
  /// Pixels of the widest such row, or of the top row, that are red.
  let width: Int
  let mean: Pixels.Colour
  private let screen: (width: Int, height: Int)

  init(_ pixels: Pixels) {
    screen = (pixels.width, pixels.height)
    var (rows, widest) = (0, 0)
    var sum = (red: 0.0, green: 0.0, blue: 0.0, count: 0)
    while rows < pixels.height {
      let row = Row(pixels, rows)
      if rows == 0 || row.isBand { widest = max(widest, row.count) }
      guard row.isBand else { break }
      sum = (sum.red + row.sum.red, sum.green + row.sum.green, sum.blue + row.sum.blue, sum.count + row.count)
      rows += 1
    }
    // Without a band the top row says what is there instead.
    if sum.count == 0, let top = Row.whole(pixels, 0) { sum = top }
    let count = Double(max(sum.count, 1))
    mean = Pixels.Colour(red: sum.red / count, green: sum.green / count, blue: sum.blue / count)
    (height, width) = (rows, widest)
  }

  var isBand: Bool { Self.share.contains(Double(height) / Double(max(screen.height, 1))) }

  func result(wanted: Bool) -> StepResult {
    if wanted ? isBand : height == 0 { return .held(came: came) }
    return .failed(expected: wanted ? "the red band at the top of the screen" : "no red band", came: came)
  }

  /// The band's height, width, mean sRGB and the accepted range.
  var came: String {
    let accepted =
      "accepted: full width, \(Self.text(Self.share.lowerBound * 100, 0)) to \(Self.text(Self.share.upperBound * 100, 0))"
      + " % of the height, sRGB \(Self.text(Self.red)) \(Self.text(Self.green)) \(Self.text(Self.blue))"
    let colour = [mean.red, mean.green, mean.blue].map { Self.text($0, 2) }.joined(separator: " ")
    return "\(height) of \(screen.height) rows red from side to side, up to \(width) of \(screen.width) pixels wide, "
      + "mean sRGB \(colour) (\(accepted))"
  }

  private static func text(_ range: ClosedRange<Double>) -> String {
    "\(text(range.lowerBound, 2))–\(text(range.upperBound, 2))"
  }

  private static func text(_ number: Double, _ decimals: Int) -> String {
    let scale = decimals == 0 ? 1.0 : 100.0
    let rounded = Int((number * scale).rounded())
    guard decimals > 0 else { return "\(rounded)" }
    let (whole, part) = (rounded / 100, rounded % 100)
    return "\(whole).\(part < 10 ? "0" : "")\(part)"
  }

  /// One row of pixels.
  private struct Row {
    typealias Sum = (red: Double, green: Double, blue: Double, count: Int)
    var sum: Sum = (0, 0, 0, 0)
    /// Red from one side to the other; white type may stand in it.
    var isBand = false
    var count: Int { sum.count }

    init(_ pixels: Pixels, _ y: Int) {
      let edge = max(1, pixels.width / 50)
      var isFull = true
      for x in 0..<pixels.width {
        let colour = pixels[x, y]
        if BandLook.isRed(colour) {
          sum = (sum.red + colour.red, sum.green + colour.green, sum.blue + colour.blue, sum.count + 1)
        } else if x < edge || x >= pixels.width - edge {
          isFull = false
        }
      }
      isBand = isFull && sum.count * 2 >= pixels.width
    }

    /// The sum over all pixels of a row, red or not.
    static func whole(_ pixels: Pixels, _ y: Int) -> Sum? {
      guard y < pixels.height else { return nil }
      return (0..<pixels.width).reduce((0, 0, 0, 0)) { sum, x in
        let colour = pixels[x, y]
        return (sum.0 + colour.red, sum.1 + colour.green, sum.2 + colour.blue, sum.3 + 1)
      }
    }
  }

  private static func isRed(_ colour: Pixels.Colour) -> Bool {
    red.contains(colour.red) && green.contains(colour.green) && blue.contains(colour.blue)
  }
}
