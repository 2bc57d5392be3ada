/// What a phone says of itself to have an image signed for it.
public struct PersonalizationIdentifiers: Equatable, Sendable {
  public var boardID: UInt64
  public var chipID: UInt64
  public var securityDomain: UInt64
  /// Further ones, whose names begin with `Ap,`; they are handed on as they are.
  public var others: [String: Plist]

  public init(boardID: UInt64, chipID: UInt64, securityDomain: UInt64 = 1, others: [String: Plist] = [:]) {
    self.boardID = boardID
    self.chipID = chipID
    self.securityDomain = securityDomain
    self.others = others
  }

  /// Reads the dictionary `PersonalizationIdentifiers` of the image mounter's answer.
  public init(_ plist: Plist) throws(ShapeError) {
    guard let board = plist["BoardId"]?.unsigned else { throw ShapeError("BoardId") }
    guard let chip = plist["ChipID"]?.unsigned else { throw ShapeError("ChipID") }
    self.init(
      boardID: board, chipID: chip, securityDomain: plist["SecurityDomain"]?.unsigned ?? 1,
      others: (plist.dictionary ?? [:]).filter { $0.key.hasPrefix("Ap,") })
  }

  public var plist: Plist {
    let own: [String: Plist] = [
      "BoardId": Plist(boardID), "ChipID": Plist(chipID), "SecurityDomain": Plist(securityDomain),
    ]
    return .dictionary(own.merging(others) { own, _ in own })
  }
}

extension Plist {
  /// A number that is not negative; nil for other kinds.
  var unsigned: UInt64? {
    switch self {
    case .integer(let value): UInt64(exactly: value)
    case .unsigned(let value): value
    case .string, .real, .boolean, .data, .date, .uid, .array, .dictionary: nil
    }
  }

  init(_ number: UInt64) { self = Int64(exactly: number).map(Plist.integer) ?? .unsigned(number) }
}
