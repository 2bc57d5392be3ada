/// Looks at a property list's bytes before the C library does.
///
/// libplist 2.2.0 walks trees recursively and expands shared objects of the binary form, so a few hostile
/// kilobytes could end the process; it also asserts that no text holds a NUL. What passes here is neither deeper nor larger than any phone sends.
public enum PlistGuard {
  public static let maximumBytes = 64 << 20
  /// Real replies stay under twenty levels.
  public static let maximumDepth = 256
  /// Objects after expansion; an app list of ten thousand apps has about a million.
  public static let maximumObjects = 4_000_000

  /// - Returns: nil when the bytes may be parsed, else why not.
  public static func refusal(of bytes: UnsafeRawBufferPointer) -> PlistError? {
    if bytes.count > maximumBytes { return .tooLarge }
    return bytes.starts(with: magic) ? binaryRefusal(of: bytes) : xmlRefusal(of: bytes)
  }

  private static let magic = Array("bplist00".utf8)

  // MARK: XML

  private static func xmlRefusal(of bytes: UnsafeRawBufferPointer) -> PlistError? {
    if bytes.contains(0) { return .malformed }
    var depth = 0
    var objects = 0
    var index = 0
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "<") else {
        if isNULReference(bytes, at: index) { return .malformed }
        index += 1
        continue
      }
      let rest = UnsafeRawBufferPointer(rebasing: bytes[(index + 1)...])
      if holds("<!--", in: bytes, at: index) {
        guard let end = find("-->", in: bytes, from: index + 4) else { return .malformed }
        index = end
      } else if holds("<![CDATA[", in: bytes, at: index) {
        guard let end = find("]]>", in: bytes, from: index + 9) else { return .malformed }
        index = end
      } else {
        objects += 1
        if rest.first == UInt8(ascii: "/") {
          depth -= 1
        } else if rest.first != UInt8(ascii: "?"), rest.first != UInt8(ascii: "!") {
          guard let close = rest.firstIndex(of: UInt8(ascii: ">")) else { return .malformed }
          if close == 0 || rest[close - 1] != UInt8(ascii: "/") { depth += 1 }
        }
        if depth > maximumDepth { return .tooDeep }
        if objects > 2 * maximumObjects { return .tooLarge }
        index += 1
      }
    }
    return nil
  }

  /// `&#0;`, `&#x0;`, and any number of further zeros.
  private static func isNULReference(_ bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
    guard bytes[index] == UInt8(ascii: "&"), index + 2 < bytes.count, bytes[index + 1] == UInt8(ascii: "#") else {
      return false
    }
    var digits = bytes[(index + 2)...]
    if digits.first == UInt8(ascii: "x") || digits.first == UInt8(ascii: "X") { digits = digits.dropFirst() }
    guard digits.first == UInt8(ascii: "0") else { return false }
    return digits.first { $0 != UInt8(ascii: "0") } == UInt8(ascii: ";")
  }

  private static func find(_ text: StaticString, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var index = start
    while index < bytes.count {
      if holds(text, in: bytes, at: index) { return index + text.utf8CodeUnitCount }
      index += 1
    }
    return nil
  }

  private static func holds(_ text: StaticString, in bytes: UnsafeRawBufferPointer, at index: Int) -> Bool {
    guard index + text.utf8CodeUnitCount <= bytes.count else { return false }
    for offset in 0..<text.utf8CodeUnitCount where bytes[index + offset] != text.utf8Start[offset] { return false }
    return true
  }

  // MARK: Binary

  /// Follows every reference once, remembering each object's expanded size and depth.
  ///
  /// The library writes a shared object out at each place that names it, so a text counts once for every 64 bytes.
  private static func binaryRefusal(of bytes: UnsafeRawBufferPointer) -> PlistError? {
    guard let table = ObjectTable(bytes) else { return .malformed }
    var size = [Int](repeating: 0, count: table.count)
    var depth = [Int](repeating: 0, count: table.count)
    var open = [Bool](repeating: false, count: table.count)
    var stack = [table.top]
    var read = 0
    while let object = stack.last {
      if size[object] > 0 {
        stack.removeLast()
        continue
      }
      guard let (children, length) = table.content(of: object) else { return .malformed }
      if open[object] {
        size[object] = children.reduce(1 + length / 64) { min($0 + size[$1], maximumObjects + 1) }
        depth[object] = 1 + (children.map { depth[$0] }.max() ?? 0)
        if size[object] > maximumObjects { return .tooLarge }
        if depth[object] > maximumDepth { return .tooDeep }
        open[object] = false
        stack.removeLast()
      } else {
        open[object] = true
        read += length
        // Objects that lie over each other would be gone through once for each, which no writer asks for.
        if read > 2 * bytes.count { return .malformed }
        for child in children where size[child] == 0 {
          if open[child] { return .malformed }
          stack.append(child)
        }
      }
    }
    return nil
  }

  private struct ObjectTable {
    let bytes: UnsafeRawBufferPointer
    let offsetSize: Int
    let referenceSize: Int
    let count: Int
    let top: Int
    let start: Int

    init?(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.count >= 40 else { return nil }
      let trailer = bytes.count - 32
      self.bytes = bytes
      offsetSize = Int(bytes[trailer + 6])
      referenceSize = Int(bytes[trailer + 7])
      guard (1...8).contains(offsetSize), (1...8).contains(referenceSize),
        let count = Self.number(bytes, trailer + 8, 8), let top = Self.number(bytes, trailer + 16, 8),
        let start = Self.number(bytes, trailer + 24, 8),
        count > 0, count <= bytes.count, top < count, start >= 8, start <= trailer,
        count * offsetSize <= trailer - start
      else { return nil }
      self.count = count
      self.top = top
      self.start = start
    }

    static func number(_ bytes: UnsafeRawBufferPointer, _ at: Int, _ width: Int) -> Int? {
      guard at >= 0, width > 0, width <= 8, at + width <= bytes.count else { return nil }
      var value: UInt64 = 0
      for index in 0..<width { value = value << 8 | UInt64(bytes[at + index]) }
      return Int(exactly: value)
    }

    /// What an object refers to, and how many bytes it takes.
    func content(of object: Int) -> (children: [Int], bytes: Int)? {
      guard let at = Self.number(bytes, start + object * offsetSize, offsetSize), at < start else { return nil }
      let marker = bytes[at]
      let kind = marker >> 4
      guard [0x4, 0x5, 0x6, 0xA, 0xC, 0xD].contains(kind) else { return ([], 1) }
      var length = Int(marker & 0xF)
      var cursor = at + 1
      if length == 0xF {
        guard cursor < start else { return nil }
        let width = 1 << Int(bytes[cursor] & 0xF)
        guard bytes[cursor] >> 4 == 1, let long = Self.number(bytes, cursor + 1, width) else { return nil }
        length = long
        cursor += 1 + width
      }
      // Data, then ASCII and UTF-16 text.
      switch kind {
      case 0x4: return length > start - cursor ? nil : ([], length)
      case 0x5: return holdsNUL(cursor, length, 1) ? nil : ([], length)
      case 0x6: return holdsNUL(cursor, length, 2) ? nil : ([], 2 * length)
      default: return references(cursor, length, of: kind)
      }
    }

    private func references(_ cursor: Int, _ length: Int, of kind: UInt8) -> (children: [Int], bytes: Int)? {
      // A dictionary has as many keys as values.
      let count = kind == 0xD ? length.multipliedReportingOverflow(by: 2) : (length, false)
      guard !count.1, count.0 <= (start - cursor) / referenceSize else { return nil }
      var children: [Int] = []
      children.reserveCapacity(count.0)
      for index in 0..<count.0 {
        guard let child = Self.number(bytes, cursor + index * referenceSize, referenceSize), child < self.count
        else { return nil }
        children.append(child)
      }
      return (children, count.0 * referenceSize)
    }

    /// Also true for text that reaches beyond the objects.
    private func holdsNUL(_ start: Int, _ units: Int, _ width: Int) -> Bool {
      guard units <= (self.start - start) / width else { return true }
      return (0..<units).contains { unit in (0..<width).allSatisfy { bytes[start + unit * width + $0] == 0 } }
    }
  }
}
