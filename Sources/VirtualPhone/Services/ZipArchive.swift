/// A zip file, as far as finding one entry and reading it; packages of apps are zip files.
///
/// - Source: APPNOTE.TXT 6.3.10, sections 4.3.7, 4.3.12 and 4.3.16; no zip64, no encryption.
struct ZipArchive {
  struct Entry: Equatable {
    let name: String
    let method: Int
    let checksum: UInt32
    let packedSize: Int
    let size: Int
    let headerStart: Int
  }

  /// Entries that are looked at.
  private static let entryLimit = 100_000

  private let bytes: [UInt8]
  let entries: [Entry]

  /// - Returns: nil for what is no zip file, or one whose directory leads outside.
  init?(_ bytes: [UInt8]) {
    self.bytes = bytes
    guard let entries = Self.directory(bytes) else { return nil }
    self.entries = entries
  }

  /// - Returns: nil for damaged entries, those packed in another way than phones know, and larger ones than `limit`.
  func contents(of entry: Entry, limit: Int = 1 << 20) -> [UInt8]? {
    let start = entry.headerStart
    guard entry.size <= limit, Self.number(bytes, at: start, 4) == 0x0403_4B50,
      let name = Self.number(bytes, at: start + 26, 2), let extra = Self.number(bytes, at: start + 28, 2)
    else { return nil }
    let first = start + 30 + name + extra
    guard first <= bytes.count, entry.packedSize <= bytes.count - first else { return nil }
    let packed = Array(bytes[first..<(first + entry.packedSize)])
    let contents: [UInt8]?
    switch entry.method {
    case 0: contents = packed
    case 8: contents = Zlib.inflated(packed, limit: limit)
    default: contents = nil
    }
    guard let contents, contents.count == entry.size, Zlib.checksum(contents) == entry.checksum else { return nil }
    return contents
  }

  private static func directory(_ bytes: [UInt8]) -> [Entry]? {
    // The record at the end has a comment of up to 65,535 bytes behind it.
    let nearest = bytes.count - 22
    guard nearest >= 0 else { return nil }
    let farthest = max(0, nearest - 65_535)
    guard
      let end = stride(from: nearest, through: farthest, by: -1).first(where: {
        bytes[$0] == 0x50 && number(bytes, at: $0, 4) == 0x0605_4B50
      }), let count = number(bytes, at: end + 10, 2), var at = number(bytes, at: end + 16, 4), count <= entryLimit
    else { return nil }
    var entries: [Entry] = []
    for _ in 0..<count {
      guard number(bytes, at: at, 4) == 0x0201_4B50, let method = number(bytes, at: at + 10, 2),
        let checksum = number(bytes, at: at + 16, 4), let packed = number(bytes, at: at + 20, 4),
        let size = number(bytes, at: at + 24, 4), let name = number(bytes, at: at + 28, 2),
        let extra = number(bytes, at: at + 30, 2), let comment = number(bytes, at: at + 32, 2),
        let header = number(bytes, at: at + 42, 4), at + 46 + name <= bytes.count
      else { return nil }
      let text = String(decoding: bytes[(at + 46)..<(at + 46 + name)], as: UTF8.self)
      entries.append(
        Entry(
          name: text, method: method, checksum: UInt32(checksum), packedSize: packed, size: size, headerStart: header))
      at += 46 + name + extra + comment
    }
    return entries
  }

  /// A little-endian number of `count` bytes; nil where there are not so many.
  private static func number(_ bytes: [UInt8], at start: Int, _ count: Int) -> Int? {
    guard start >= 0, start <= bytes.count - count else { return nil }
    return bytes[start..<(start + count)].reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
