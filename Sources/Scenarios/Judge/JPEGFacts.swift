/// What a JPEG says about itself, read from its segments; no pixel is decoded.
///
/// - Source: ITU-T T.81 (markers, frame header), EXIF 2.32 (APP1, the first directory and its GPS pointer).
struct JPEGFacts: Equatable {
  var width: Int
  var height: Int
  var hasEXIF = false
  /// The EXIF has a GPS directory with a latitude.
  var hasPlace = false

  /// - Returns: nil for anything but a JPEG with a frame and an end.
  init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: [0xFF, 0xD8]), bytes.suffix(2) == [0xFF, 0xD9] else { return nil }
    var at = 2
    var frame: (width: Int, height: Int)?
    (width, height) = (0, 0)
    while at + 4 <= bytes.count {
      guard bytes[at] == 0xFF else { return nil }
      let marker = bytes[at + 1]
      // Fill bytes before a marker.
      if marker == 0xFF {
        at += 1
        continue
      }
      let length = Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
      guard length >= 2, at + 2 + length <= bytes.count else { return nil }
      let payload = bytes[(at + 4)..<(at + 2 + length)]
      switch marker {
      // Frames, but for the tables and extensions that share their numbers.
      case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF: frame = frame ?? Self.frame(payload)
      case 0xE1:
        if let place = EXIFFacts.hasPlace(payload) {
          hasEXIF = true
          hasPlace = hasPlace || place
        }
      default: break
      }
      // Behind the scan's head come the coded pixels.
      if marker == 0xDA { break }
      at += 2 + length
    }
    guard let frame, frame.width > 0, frame.height > 0 else { return nil }
    (width, height) = frame
  }

  private static func frame(_ payload: ArraySlice<UInt8>) -> (Int, Int)? {
    guard payload.count >= 5 else { return nil }
    let bytes = Array(payload.prefix(5))
    return (Int(bytes[3]) << 8 | Int(bytes[4]), Int(bytes[1]) << 8 | Int(bytes[2]))
  }
}

/// The part of EXIF that is looked at.
private enum EXIFFacts {
  private static let entryLimit = 512

  /// - Returns: whether it names a place; nil for a segment that is no EXIF.
  static func hasPlace(_ payload: ArraySlice<UInt8>) -> Bool? {
    guard payload.starts(with: Array("Exif".utf8) + [0, 0]) else { return nil }
    let tiff = Array(payload.dropFirst(6))
    let isBig: Bool
    switch tiff.prefix(4) {
    case [0x4D, 0x4D, 0, 42]: isBig = true
    case [0x49, 0x49, 42, 0]: isBig = false
    default: return nil
    }
    func number(_ at: Int, _ count: Int) -> Int? {
      guard at >= 0, at + count <= tiff.count else { return nil }
      let part = isBig ? Array(tiff[at..<(at + count)]) : tiff[at..<(at + count)].reversed()
      return part.reduce(0) { $0 << 8 | Int($1) }
    }
    func value(of tag: Int, in directory: Int) -> Int? {
      guard let count = number(directory, 2), count <= entryLimit else { return nil }
      for entry in 0..<count where number(directory + 2 + entry * 12, 2) == tag {
        return number(directory + 2 + entry * 12 + 8, 4)
      }
      return nil
    }
    guard let first = number(4, 4), let gps = value(of: 0x8825, in: first) else { return false }
    // GPSLatitude.
    return value(of: 2, in: gps) != nil
  }
}
