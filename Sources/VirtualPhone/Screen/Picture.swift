/// A picture made of rectangles, painted one over the other.
struct Picture: Sendable {
  struct Colour: Equatable, Sendable {
    let red: UInt8
    let green: UInt8
    let blue: UInt8

    /// - Parameters: sRGB, 0...1.
    init(_ red: Double, _ green: Double, _ blue: Double) {
      self.red = UInt8((red * 255).rounded())
      self.green = UInt8((green * 255).rounded())
      self.blue = UInt8((blue * 255).rounded())
    }

    static let white = Colour(1, 1, 1)
  }

  private struct Area: Sendable {
    let columns: Range<Int>
    let rows: Range<Int>
    let colour: Colour
  }

  /// Rows that look alike: the bytes of one, and how many there are.
  struct Stripe {
    /// Red, green, blue for each pixel.
    let row: [UInt8]
    let count: Int
  }

  let width: Int
  let height: Int
  private let ground: Colour
  private var areas: [Area] = []

  init(width: Int, height: Int, _ ground: Colour) {
    self.width = width
    self.height = height
    self.ground = ground
  }

  /// Paints over what is there; parts outside the picture are left out.
  mutating func fill(x: Int, y: Int, width: Int, height: Int, _ colour: Colour) {
    let columns = (x..<(x + max(0, width))).clamped(to: 0..<self.width)
    let rows = (y..<(y + max(0, height))).clamped(to: 0..<self.height)
    if !columns.isEmpty, !rows.isEmpty { areas.append(Area(columns: columns, rows: rows, colour: colour)) }
  }

  /// The picture from top to bottom.
  var stripes: [Stripe] {
    let edges = Set(areas.flatMap { [$0.rows.lowerBound, $0.rows.upperBound] } + [0, height]).sorted()
    return zip(edges, edges.dropFirst()).map { top, bottom in
      var row = [Colour](repeating: ground, count: width)
      for area in areas where area.rows.contains(top) {
        row.replaceSubrange(area.columns, with: repeatElement(area.colour, count: area.columns.count))
      }
      var bytes: [UInt8] = []
      bytes.reserveCapacity(width * 3)
      for pixel in row {
        bytes.append(pixel.red)
        bytes.append(pixel.green)
        bytes.append(pixel.blue)
      }
      return Stripe(row: bytes, count: bottom - top)
    }
  }
}
