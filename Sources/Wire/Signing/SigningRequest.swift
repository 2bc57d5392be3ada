import FoundationEssentials

/// What the signing service is asked for, so that one phone takes one image.
///
/// - Source: the request that pymobiledevice3 11.45.0 and idevicerestore make.
public struct SigningRequest: Equatable, Sendable {
  public static let path = "/TSS/controller?action=2"
  public static let contentType = #"text/xml; charset="utf-8""#
  public static let userAgent = "InetURL/1.0"

  public var identity: BuildIdentity
  public var phone: PersonalizationIdentifiers
  public var ecid: UInt64
  /// The phone's own, which a ticket is good for until it rolls another.
  public var nonce: [UInt8]
  public var uuid: UUID

  public init(
    identity: BuildIdentity, phone: PersonalizationIdentifiers, ecid: UInt64, nonce: [UInt8], uuid: UUID = UUID()
  ) {
    self.identity = identity
    self.phone = phone
    self.ecid = ecid
    self.nonce = nonce
    self.uuid = uuid
  }

  public var plist: Plist {
    var request: [String: Plist] = [
      "@HostPlatformInfo": "mac", "@VersionInfo": "libauthinstall-973.40.2", "@UUID": .string(uuid.uuidString),
      "@ApImg4Ticket": true, "@BBTicket": true, "ApBoardID": Plist(phone.boardID), "ApChipID": Plist(phone.chipID),
      "ApECID": Plist(ecid), "ApNonce": .data(nonce), "ApProductionMode": true,
      "ApSecurityDomain": Plist(phone.securityDomain), "ApSecurityMode": true,
      "SepNonce": .data([UInt8](repeating: 0, count: 20)), "UID_MODE": false,
    ]
    request.merge(phone.others) { own, _ in own }
    request.merge(parts) { own, _ in own }
    return .dictionary(request)
  }

  /// The body of the POST.
  public var bytes: [UInt8] { plist.xml }

  /// The trusted parts of the image, each as the signing service wants it.
  private var parts: [String: Plist] {
    let rules = identity.manifest["LoadableTrustCache"]?["Info"]?["RestoreRequestRules"]?.array ?? []
    var parts: [String: Plist] = [:]
    for (name, part) in identity.manifest where part["Info"] != nil && part["Trusted"]?.boolean == true {
      var entry = part.dictionary ?? [:]
      entry["Info"] = nil
      if entry["Digest"] == nil { entry["Digest"] = .data([]) }
      for rule in rules where Self.applies(rule) {
        for (key, value) in rule["Actions"]?.dictionary ?? [:] where value != .integer(Self.leaveAlone) {
          entry[key] = value
        }
      }
      parts[name] = .dictionary(entry)
    }
    return parts
  }

  /// The value by which a rule says that a key is not to be touched.
  private static let leaveAlone: Int64 = 255

  /// Whether a rule's conditions hold for the phones there are: sold ones, fused, with this image format.
  private static func applies(_ rule: Plist) -> Bool {
    let facts: [String: Plist] = [
      "ApRawProductionMode": true, "ApCurrentProductionMode": true, "ApRawSecurityMode": true, "ApRequiresImage4": true,
    ]
    return (rule["Conditions"]?.dictionary ?? [:]).allSatisfy { facts[$0.key] == $0.value }
  }
}

/// What the signing service answers.
public enum SigningReply: Equatable, Sendable {
  /// The ticket (IM4M) that the phone wants with the image.
  case ticket([UInt8])
  /// No ticket; the status is the service's number, the message its own words.
  case refused(status: Int, message: String)

  /// Reads `STATUS=0&MESSAGE=SUCCESS&REQUEST_STRING=…`.
  public init(_ bytes: [UInt8]) throws(ShapeError) {
    let fields = Self.fields(bytes)
    guard let status = fields["STATUS"].flatMap({ Int(String(decoding: $0, as: UTF8.self)) }) else {
      throw ShapeError("STATUS")
    }
    guard status == 0 else {
      self = .refused(status: status, message: String(decoding: fields["MESSAGE"] ?? [], as: UTF8.self))
      return
    }
    guard let text = fields["REQUEST_STRING"], let plist = try? Plist(parsing: Array(text)) else {
      throw ShapeError("REQUEST_STRING")
    }
    guard let ticket = plist["ApImg4Ticket"]?.bytes, !ticket.isEmpty else { throw ShapeError("ApImg4Ticket") }
    self = .ticket(ticket)
  }

  public var bytes: [UInt8] {
    switch self {
    case .ticket(let ticket):
      Array("STATUS=0&MESSAGE=SUCCESS&REQUEST_STRING=".utf8) + (["ApImg4Ticket": .data(ticket)] as Plist).xml
    case .refused(let status, let message): Array("STATUS=\(status)&MESSAGE=\(message)".utf8)
    }
  }

  /// The last field is a whole property list, which may hold the signs that separate the others.
  private static func fields(_ bytes: [UInt8]) -> [String: ArraySlice<UInt8>] {
    var fields: [String: ArraySlice<UInt8>] = [:]
    var rest = bytes[...]
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      let name = String(decoding: rest[..<equals], as: UTF8.self)
      rest = rest[(equals + 1)...]
      let end = name == "REQUEST_STRING" ? rest.endIndex : rest.firstIndex(of: UInt8(ascii: "&")) ?? rest.endIndex
      fields[name] = rest[..<end]
      rest = rest[end...].dropFirst()
    }
    return fields
  }
}
