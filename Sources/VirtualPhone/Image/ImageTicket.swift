import Transport
import Wire

/// What a signing server vouches for: this image, on this phone, for this nonce.
///
/// Real tickets are IM4M, in DER and under Apple's signature. A virtual one is a property list under a seal that
/// anybody who reads this could make; hosts treat both as bytes.
struct ImageTicket: Equatable, Sendable {
  var ecid: UInt64
  var chipID: Int
  var boardID: Int
  var nonce: [UInt8]
  /// SHA-384 by the component's name in a build manifest.
  var digests: [String: [UInt8]]

  static let image = "PersonalizedDMG"
  static let trustCache = "LoadableTrustCache"

  private static let key = Array("the virtual phones' own signature".utf8)

  init(ecid: UInt64, chipID: Int, boardID: Int, nonce: [UInt8], digests: [String: [UInt8]]) {
    self.ecid = ecid
    self.chipID = chipID
    self.boardID = boardID
    self.nonce = nonce
    self.digests = digests
  }

  /// - Returns: nil when the bytes are no ticket, or the seal is broken.
  init?(_ bytes: [UInt8]) {
    guard let plist = try? Plist(parsing: bytes), let body = plist["Body"]?.bytes,
      plist["Seal"]?.bytes == Self.seal(body), let fields = try? Plist(parsing: body),
      let ecid = fields["ECID"]?.string.flatMap({ UInt64($0) }), let chip = fields["CHIP"]?.int,
      let board = fields["BORD"]?.int, let nonce = fields["BNCH"]?.bytes
    else { return nil }
    let digests = (fields["DGST"]?.dictionary ?? [:]).compactMapValues(\.bytes)
    self.init(ecid: ecid, chipID: chip, boardID: board, nonce: nonce, digests: digests)
  }

  var bytes: [UInt8] {
    let body = Plist.dictionary([
      "ECID": .string(String(ecid)), "CHIP": .integer(Int64(chipID)), "BORD": .integer(Int64(boardID)),
      "BNCH": .data(nonce), "DGST": .dictionary(digests.mapValues { .data($0) }),
    ]).binary
    return Plist.dictionary(["Body": .data(body), "Seal": .data(Self.seal(body))]).binary
  }

  private static func seal(_ body: [UInt8]) -> [UInt8] { SHA384.of(key + body) }
}
