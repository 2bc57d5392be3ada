import Glibc

/// Where a picture was taken, in degrees.
struct Place: Equatable, Sendable {
  let latitude: Double
  let longitude: Double

  /// Null Island: a place that is nobody's.
  static let example = Place(latitude: 0.0125, longitude: -0.0375)
}

/// The EXIF block of a picture: who took it, when, how large, and where.
struct EXIF: Sendable {
  let model: String
  let size: (width: Int, height: Int)
  let place: Place?

  /// A TIFF file, big-endian, to stand behind `Exif\0\0`.
  var bytes: [UInt8] {
    let now = Self.now()
    var camera = [
      Entry(0x010F, .text("Apple")), Entry(0x0110, .text(model)), Entry(0x0112, .short(1)), Entry(0x0132, .text(now)),
      Entry(0x8769, .long(0)),
    ]
    if place != nil { camera.append(Entry(0x8825, .long(0))) }
    let picture = [
      Entry(0x9000, .bytes(Array("0232".utf8))), Entry(0x9003, .text(now)), Entry(0xA001, .short(1)),
      Entry(0xA002, .long(UInt32(size.width))), Entry(0xA003, .long(UInt32(size.height))),
    ]
    // The directories stand one behind the other; the first one names the places of the others.
    let pictureStart = 8 + Self.size(of: camera)
    camera[4] = Entry(0x8769, .long(UInt32(pictureStart)))
    var bytes: [UInt8] = Array("MM".utf8) + [0, 42, 0, 0, 0, 8]
    guard let place else {
      return bytes + Self.directory(camera, at: 8) + Self.directory(picture, at: pictureStart)
    }
    let placeStart = pictureStart + Self.size(of: picture)
    camera[5] = Entry(0x8825, .long(UInt32(placeStart)))
    bytes += Self.directory(camera, at: 8) + Self.directory(picture, at: pictureStart)
    return bytes + Self.directory(Self.entries(of: place), at: placeStart)
  }

  private static func entries(of place: Place) -> [Entry] {
    [
      Entry(0x0000, .bytes([2, 3, 0, 0], type: 1)), Entry(0x0001, .text(place.latitude < 0 ? "S" : "N")),
      Entry(0x0002, .rationals(sexagesimal(place.latitude))), Entry(0x0003, .text(place.longitude < 0 ? "W" : "E")),
      Entry(0x0004, .rationals(sexagesimal(place.longitude))),
    ]
  }

  /// Degrees, minutes and hundredths of seconds.
  private static func sexagesimal(_ degrees: Double) -> [(UInt32, UInt32)] {
    let hundredths = UInt32((abs(degrees) * 360_000).rounded())
    return [(hundredths / 360_000, 1), (hundredths / 6_000 % 60, 1), (hundredths % 6_000, 100)]
  }

  private static func now() -> String {
    var seconds = time(nil)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    func digits(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
    let date = "\(parts.tm_year + 1900):\(digits(parts.tm_mon + 1)):\(digits(parts.tm_mday))"
    return "\(date) \(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec))"
  }
}

// MARK: - TIFF directories

private struct Entry {
  enum Value {
    case text(String)
    case short(UInt16)
    case long(UInt32)
    case rationals([(UInt32, UInt32)])
    /// Type 7 is "undefined", 1 is "byte".
    case bytes([UInt8], type: UInt16 = 7)
  }

  let tag: UInt16
  let value: Value

  init(_ tag: UInt16, _ value: Value) {
    self.tag = tag
    self.value = value
  }

  var type: UInt16 {
    switch value {
    case .text: 2
    case .short: 3
    case .long: 4
    case .rationals: 5
    case .bytes(_, let type): type
    }
  }

  var count: Int {
    switch value {
    case .text(let text): text.utf8.count + 1
    case .short, .long: 1
    case .rationals(let list): list.count
    case .bytes(let bytes, _): bytes.count
    }
  }

  var payload: [UInt8] {
    switch value {
    case .text(let text): Array(text.utf8) + [0]
    case .short(let value): big(value)
    case .long(let value): big(value)
    case .rationals(let list): list.flatMap { big($0.0) + big($0.1) }
    case .bytes(let bytes, _): bytes
    }
  }

  /// What does not fit the entry's own four bytes stands behind the directory, on even places.
  var overflow: [UInt8] {
    let payload = payload
    return payload.count <= 4 ? [] : payload + [UInt8](repeating: 0, count: payload.count & 1)
  }
}

extension EXIF {
  fileprivate static func size(of entries: [Entry]) -> Int {
    2 + entries.count * 12 + 4 + entries.reduce(0) { $0 + $1.overflow.count }
  }

  /// One directory with what stands behind it; no other follows in its chain.
  fileprivate static func directory(_ entries: [Entry], at start: Int) -> [UInt8] {
    var bytes = big(UInt16(entries.count))
    var overflow: [UInt8] = []
    let behind = start + 2 + entries.count * 12 + 4
    for entry in entries {
      bytes += big(entry.tag) + big(entry.type) + big(UInt32(entry.count))
      let more = entry.overflow
      if more.isEmpty {
        bytes += entry.payload + [UInt8](repeating: 0, count: 4 - entry.payload.count)
      } else {
        bytes += big(UInt32(behind + overflow.count))
        overflow += more
      }
    }
    return bytes + [0, 0, 0, 0] + overflow
  }
}

private func big(_ value: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
