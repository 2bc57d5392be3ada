/// Reads the one document of a YAML file into nodes that know their place.
public enum YAMLDocument {
  /// The largest file that is read.
  public static let byteLimit = 1 << 20

  /// - Parameter file: the name that problems carry.
  /// - Throws: the problem that stops the reading, or every duplicate key at once.
  public static func parse(_ bytes: [UInt8], file: String) throws(Problems) -> YAMLNode {
    let (root, duplicates) = try tree(bytes, file: file)
    if !duplicates.isEmpty { throw Problems(duplicates) }
    return root
  }

  /// The nodes, and every key that stands twice; of those the first one is in the tree.
  ///
  /// - Throws: the problem that stops the reading.
  public static func tree(
    _ bytes: [UInt8], file: String
  ) throws(Problems) -> (root: YAMLNode, duplicates: [Problem]) {
    let content: [UInt8]
    do {
      content = try YAMLBytes.checked(bytes, file: file)
    } catch {
      throw Problems([error])
    }
    let reader = YAMLEvents(content)
    var builder = YAMLBuilder(file: file, lines: YAMLBytes.lines(content))
    do {
      while try builder.take(reader.next()) {}
    } catch {
      throw Problems([builder.problem(error)])
    }
    guard let root = builder.root else {
      throw Problems([Problem(file: file, line: 1, column: 1, sentence: "the file is empty")])
    }
    return (root, builder.duplicates)
  }
}

/// What is looked at before any YAML: bytes that the YAML library would take in silence.
enum YAMLBytes {
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// - Returns: the bytes without a leading byte order mark.
  static func checked(_ bytes: [UInt8], file: String) throws(Problem) -> [UInt8] {
    guard bytes.count <= YAMLDocument.byteLimit else {
      throw Problem(file: file, sentence: "is larger than \(YAMLDocument.byteLimit) bytes")
    }
    let content = bytes.starts(with: mark) ? Array(bytes.dropFirst(3)) : bytes
    let skipped = bytes.count - content.count
    guard String(validating: content, as: UTF8.self) != nil else {
      let offset = firstInvalid(content)
      let (line, column) = place(of: offset, in: content)
      throw Problem(
        file: file, line: line, column: column,
        sentence: "byte \(offset + skipped + 1) of the file is not UTF-8; save the file as UTF-8")
    }
    for index in content.indices {
      let byte = content[index]
      if byte == 0x0D, index + 1 == content.count || content[index + 1] != 0x0A {
        let (line, column) = place(of: index, in: content)
        throw Problem(
          file: file, line: line, column: column,
          sentence: "a carriage return stands alone here; end lines with LF or CR LF")
      }
      if byte == 0xEF, content[index...].starts(with: mark) {
        let (line, column) = place(of: index, in: content)
        throw Problem(
          file: file, line: line, column: column,
          sentence:
            "byte \(index + skipped + 1) of the file begins a byte order mark, which may only stand at its start; delete it"
        )
      }
    }
    return content
  }

  static func lines(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func firstInvalid(_ bytes: [UInt8]) -> Int {
    var decoder = UTF8()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch decoder.decode(&iterator) {
      case .scalarValue(let scalar): offset += UTF8.width(scalar)
      case .emptyInput, .error: return min(offset, max(0, bytes.count - 1))
      }
    }
  }

  static func place(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
    var line = 1
    var column = 1
    for byte in bytes.prefix(offset) {
      if byte == 0x0A {
        line += 1
        column = 1
      } else if byte & 0xC0 != 0x80 {
        column += 1
      }
    }
    return (line, column)
  }
}
