import Wire

/// The operation's own data, taken apart from the front.
struct AFCFields {
  private var rest: ArraySlice<UInt8>

  init(_ data: [UInt8]) { rest = data[...] }

  mutating func number() throws(AFCCode) -> UInt64 {
    guard let word = AFCFrame.word(Array(rest.prefix(8)), at: 0) else { throw .invalidArgument }
    defer { rest = rest.dropFirst(8) }
    return word
  }

  /// A text with NUL behind it; the last one may do without.
  mutating func text() throws(AFCCode) -> String {
    guard !rest.isEmpty else { throw .invalidArgument }
    let bytes = rest.prefix { $0 != 0 }
    rest = rest.dropFirst(bytes.count + 1)
    guard let text = String(validating: bytes, as: UTF8.self), text.utf8.count <= FileTree.pathLimit else {
      throw .invalidArgument
    }
    return text
  }
}
