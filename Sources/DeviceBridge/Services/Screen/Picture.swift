/// A picture of a phone's screen, in memory only.
///
/// It has no form in which it could be printed, encoded or written: whoever wants its bytes looks at them here.
public struct Picture: Sendable {
  public enum Format: String, Sendable { case png, tiff }
  public let format: Format
  /// Pixels.
  public let width: Int
  public let height: Int
  private let bytes: [UInt8]

  /// Side lengths beyond this are no screen's, and would be refused by whoever decodes the picture.
  private static let sideLimit = 1 << 14

  /// Reads the head only.
  ///
  /// - Returns: nil for anything but a PNG or a TIFF with a believable size.
  public init?(_ bytes: [UInt8]) {
    if let (width, height) = Self.pngSize(bytes) {
      (format, self.width, self.height) = (.png, width, height)
    } else if let (width, height) = TIFFHead(bytes)?.size {
      (format, self.width, self.height) = (.tiff, width, height)
    } else {
      return nil
    }
    guard (1...Self.sideLimit).contains(width), (1...Self.sideLimit).contains(height) else { return nil }
    self.bytes = bytes
  }

  /// The encoded picture, for as long as the body looks at it.
  public func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try bytes.withUnsafeBytes(body)
  }

  /// The signature, then a chunk IHDR with width and height first.
  private static func pngSize(_ bytes: [UInt8]) -> (Int, Int)? {
    let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]
    guard bytes.count >= 33, bytes.starts(with: start) else { return nil }
    func number(_ at: Int) -> Int { bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
    return (number(16), number(20))
  }
}

extension Picture: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "a picture of \(width) by \(height) pixels (\(format.rawValue), not shown)" }
  public var debugDescription: String { description }
  /// Nothing of it is shown by `dump` or a failed test.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The first directory of a TIFF file, as far as its size goes.
private struct TIFFHead {
  private static let entryLimit = 512
  var size: (Int, Int)?

  init?(_ bytes: [UInt8]) {
    let isLittle: Bool
    switch bytes.prefix(4) {
    case [0x49, 0x49, 0x2A, 0x00]: isLittle = true
    case [0x4D, 0x4D, 0x00, 0x2A]: isLittle = false
    default: return nil
    }
    func number(_ at: Int, _ count: Int) -> Int? {
      guard at >= 0, bytes.count - at >= count else { return nil }
      let part = bytes[at..<(at + count)]
      return isLittle ? part.reversed().reduce(0) { $0 << 8 | Int($1) } : part.reduce(0) { $0 << 8 | Int($1) }
    }
    guard let start = number(4, 4), let entries = number(start, 2), entries <= Self.entryLimit else { return nil }
    var sides: [Int: Int] = [:]
    for index in 0..<entries {
      let entry = start + 2 + 12 * index
      guard let tag = number(entry, 2), let type = number(entry + 2, 2) else { return nil }
      // Width and height: 16 or 32 bits, at the front of the value's field.
      if tag == 256 || tag == 257 { sides[tag] = number(entry + 8, type == 3 ? 2 : 4) }
    }
    guard let width = sides[256], let height = sides[257] else { return nil }
    size = (width, height)
  }
}
