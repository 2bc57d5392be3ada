/// A phone's identifier, in whichever of its spellings somebody wrote it.
///
/// Two forms exist: forty hexadecimal digits (up to A11), and eight, a hyphen and sixteen (A12 and later). Muxes and people
/// leave the hyphen out and change the case; equality looks through both, `description` keeps the spelling that stands.
public struct UDID: Sendable, CustomStringConvertible {
  /// As it is shown and recorded: with the hyphen where the form has one.
  public let description: String
  /// Lower case, no hyphen: what equality and prefixes look at.
  public let bare: String

  /// Takes any text a mux may call a serial; it need not be of a known form.
  public init(_ text: String) {
    bare = Self.bare(text)
    description =
      text.utf8.count == 24 && !text.contains("-")
      ? "\(text.prefix(8))-\(text.dropFirst(8))" : text
  }

  /// - Returns: nil unless the text has one of the two forms, hyphen and case aside.
  public init?(wellFormed text: String) {
    let bare = Self.bare(text)
    guard bare.utf8.count == 24 || bare.utf8.count == 40, Hex.decode(bare) != nil,
      text.filter({ $0 == "-" }).count <= 1
    else { return nil }
    self.init(text)
  }

  /// Whether what a person typed is the start of this identifier.
  public func begins(with typed: String) -> Bool {
    let typed = Self.bare(typed)
    return !typed.isEmpty && bare.hasPrefix(typed)
  }

  /// The last six characters, for names of phones that have none.
  public var tail: String { String(description.suffix(6)) }

  private static func bare(_ text: String) -> String { text.filter { $0 != "-" }.lowercased() }
}

extension UDID: Hashable {
  public static func == (left: UDID, right: UDID) -> Bool { left.bare == right.bare }
  public func hash(into hasher: inout Hasher) { hasher.combine(bare) }
}
