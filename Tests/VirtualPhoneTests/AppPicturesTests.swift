import Testing
import Wire

@testable import VirtualPhone

/// Reads back what the pictures promise, by the formats' own rules.
struct EXIFReader {
  private let tiff: [UInt8]
  let segments: [UInt8]
  private(set) var width = 0
  private(set) var height = 0

  /// - Returns: nil unless every segment of the JPEG leads to the next, up to its scan.
  init?(_ jpeg: [UInt8]) {
    guard jpeg.starts(with: [0xFF, 0xD8]), jpeg.suffix(2) == [0xFF, 0xD9] else { return nil }
    var (at, tiff, markers): (Int, [UInt8], [UInt8]) = (2, [], [])
    while at + 4 <= jpeg.count, jpeg[at] == 0xFF {
      let marker = jpeg[at + 1]
      let length = Int(jpeg[at + 2]) << 8 | Int(jpeg[at + 3])
      guard length >= 2, at + 2 + length <= jpeg.count else { return nil }
      let payload = Array(jpeg[(at + 4)..<(at + 2 + length)])
      markers.append(marker)
      if marker == 0xE1 { tiff = Array(payload.dropFirst(6)) }
      if marker == 0xC0 {
        height = Int(payload[1]) << 8 | Int(payload[2])
        width = Int(payload[3]) << 8 | Int(payload[4])
      }
      at += 2 + length
      if marker == 0xDA { break }
    }
    self.tiff = tiff
    segments = markers
  }

  private func number(_ at: Int, _ count: Int) -> Int { tiff[at..<(at + count)].reduce(0) { $0 << 8 | Int($1) } }

  /// The place of an entry's value.
  private func place(of tag: Int, in directory: Int) -> Int? {
    guard !tiff.isEmpty else { return nil }
    for index in 0..<number(directory, 2) where number(directory + 2 + index * 12, 2) == tag {
      let entry = directory + 2 + index * 12
      let sizes = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1]
      let bytes = (sizes[number(entry + 2, 2)] ?? 1) * number(entry + 4, 4)
      return bytes <= 4 ? entry + 8 : number(entry + 8, 4)
    }
    return nil
  }

  private func text(at: Int) -> String { String(decoding: tiff[at...].prefix { $0 != 0 }, as: UTF8.self) }

  var model: String? { place(of: 0x0110, in: 8).map(text) }

  var latitude: Double? {
    guard let gps = place(of: 0x8825, in: 8), let value = place(of: 2, in: number(gps, 4)) else { return nil }
    return (0..<3).reduce(0) { sum, part in
      let (top, bottom) = (number(value + part * 8, 4), number(value + part * 8 + 4, 4))
      return sum + Double(top) / Double(bottom) / [1, 60, 3600][part]
    }
  }
}

@Suite struct `a picture` {
  @Test func `is a whole baseline JPEG of the size it says`() throws {
    let picture = JPEGPicture(camera: "front", model: "iPhone 11", place: .example)

    let read = try #require(EXIFReader(picture.bytes))

    #expect(read.segments == [0xE1, 0xDB, 0xDB, 0xC0, 0xC4, 0xC4, 0xDA])
    #expect(read.width == 4032)
    #expect(read.height == 3024)
    #expect(read.model == "iPhone 11")
  }

  @Test func `has its place in EXIF where the phone knows it, and no EXIF at all inside a clip`() throws {
    let placed = EXIFReader(JPEGPicture(camera: "back", model: "iPhone", place: .example).bytes)
    let unplaced = EXIFReader(JPEGPicture(camera: "back", model: "iPhone", place: nil).bytes)
    let bare = EXIFReader(JPEGPicture(camera: "back", model: nil, place: nil).bytes)

    #expect(abs((placed?.latitude ?? 0) - 0.0125) < 1e-6)
    #expect(unplaced?.model == "iPhone")
    #expect(unplaced?.latitude == nil)
    #expect(bare?.segments.contains(0xE1) == false)
  }

  @Test func `has no marker inside its scan and exactly the bits of its blocks`() throws {
    let bytes = JPEGPicture(camera: "back", model: nil, place: nil, size: (33, 17)).bytes
    let start = try #require(bytes.indices.first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xDA }) + 14
    let scan = bytes[start..<(bytes.count - 2)]

    // Three by two units: 36 bits for the first, 12 for each of the others.
    #expect(scan.count == (36 + 5 * 12 + 7) / 8)
    #expect(zip(scan, scan.dropFirst()).allSatisfy { $0 != 0xFF || $1 == 0 })
  }

  @Test func `of the front camera differs from one of the back camera`() {
    let front = JPEGPicture(camera: "front", model: nil, place: nil).bytes
    let back = JPEGPicture(camera: "back", model: nil, place: nil).bytes

    #expect(front != back)
  }
}

@Suite struct `a clip's file` {
  /// The top-level atoms by name, or nil where sizes do not add up.
  private func atoms(_ bytes: ArraySlice<UInt8>) -> [(name: String, payload: ArraySlice<UInt8>)]? {
    var atoms: [(String, ArraySlice<UInt8>)] = []
    var rest = bytes
    while !rest.isEmpty {
      guard rest.count >= 8 else { return nil }
      let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard size >= 8, size <= rest.count else { return nil }
      atoms.append((String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self), rest.prefix(size).dropFirst(8)))
      rest = rest.dropFirst(size)
    }
    return atoms
  }

  @Test(arguments: [(0.05, 30, 1), (1.0, 600, 10), (3.0, 1800, 30), (2.75, 1650, 28)])
  func `is a QuickTime movie of the length asked for`(seconds: Double, ticks: Int, frames: Int) throws {
    let bytes = QuickTimeClip(seconds: seconds, camera: "back").bytes

    let top = try #require(atoms(bytes[...]))
    let movie = try #require(atoms(top[2].payload))
    let header = Array(movie[0].payload)

    #expect(top.map(\.name) == ["ftyp", "mdat", "moov"])
    #expect(movie.map(\.name) == ["mvhd", "trak"])
    #expect(header[12..<16].reduce(0) { $0 << 8 | Int($1) } == 600)
    #expect(header[16..<20].reduce(0) { $0 << 8 | Int($1) } == ticks)
    let frame = JPEGPicture(camera: "back", model: nil, place: nil, size: (320, 240)).bytes
    #expect(top[1].payload.count == frames * frame.count)
  }
}
