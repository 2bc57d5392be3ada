/// The table that comes with a developer image: one identity for each chip and board it can be signed for.
public struct BuildManifest: Equatable, Sendable {
  public var identities: [BuildIdentity]

  public init(identities: [BuildIdentity]) { self.identities = identities }

  /// Reads BuildManifest.plist; identities that make no sense are passed over.
  public init(_ plist: Plist) throws(ShapeError) {
    guard let identities = plist["BuildIdentities"]?.array else { throw ShapeError("BuildIdentities") }
    self.identities = identities.compactMap { try? BuildIdentity($0) }
  }

  /// The identity for a phone; nil where the image is not for it.
  public func identity(for phone: PersonalizationIdentifiers) -> BuildIdentity? {
    identities.first { $0.boardID == phone.boardID && $0.chipID == phone.chipID }
  }
}

/// What of an image is signed for one chip and board.
public struct BuildIdentity: Equatable, Sendable {
  public var boardID: UInt64
  public var chipID: UInt64
  /// The parts by their names, as they stand in the file.
  public var manifest: [String: Plist]

  public init(boardID: UInt64, chipID: UInt64, manifest: [String: Plist]) {
    self.boardID = boardID
    self.chipID = chipID
    self.manifest = manifest
  }

  public init(_ plist: Plist) throws(ShapeError) {
    guard let board = Self.number(plist["ApBoardID"]) else { throw ShapeError("ApBoardID") }
    guard let chip = Self.number(plist["ApChipID"]) else { throw ShapeError("ApChipID") }
    guard let manifest = plist["Manifest"]?.dictionary else { throw ShapeError("Manifest") }
    self.init(boardID: board, chipID: chip, manifest: manifest)
  }

  /// The file of a part, such as `PersonalizedDMG`, relative to the manifest's folder.
  public func path(of part: String) -> String? { manifest[part]?["Info"]?["Path"]?.string }

  /// Numbers are written as hexadecimal texts, such as `0x8110`.
  private static func number(_ value: Plist?) -> UInt64? {
    guard let text = value?.string else { return value?.unsigned }
    return text.lowercased().hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
  }
}
