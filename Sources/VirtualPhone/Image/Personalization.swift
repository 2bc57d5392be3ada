import Transport
import Wire

/// What a phone remembers of personalised images.
struct Personalization: Sendable {
  /// Tickets that are kept; the oldest goes first.
  private static let limit = 16

  /// What the next ticket has to be for; nil until it is first rolled: then the phone's own.
  var nonce: [UInt8]?
  /// Tickets with which an image was mounted, by the image's SHA-384.
  private(set) var tickets: [(image: [UInt8], ticket: [UInt8])] = []

  mutating func keep(_ ticket: [UInt8], for image: [UInt8]) {
    tickets.removeAll { $0.image == image }
    tickets.append((image, ticket))
    if tickets.count > Self.limit { tickets.removeFirst() }
  }

  func ticket(for image: [UInt8]) -> [UInt8]? { tickets.first { $0.image == image }?.ticket }

  mutating func forget() { tickets = [] }

  /// Tickets for the old nonce are of no more use.
  mutating func roll() {
    nonce = Fresh.bytes(32)
    forget()
  }
}

extension VirtualPhone {
  var personalizationNonce: [UInt8] {
    state.with { $0.personalization.nonce }
      ?? (0..<32).map { UInt8(truncatingIfNeeded: identity.ecid >> ($0 % 8)) }
  }

  /// - Source: pymobiledevice3 11.45.0, services/mobile_image_mounter.py: every key with `Ap,` goes into the signing request.
  var personalizationIdentifiers: Plist {
    [
      "BoardId": .integer(Int64(preset.boardID)), "ChipID": .integer(Int64(preset.chipID)), "SecurityDomain": 1,
      "UniqueChipID": .integer(Int64(bitPattern: identity.ecid)), "Ap,OSLongVersion": .string("\(preset.ios).0.0,0"),
      "Ap,OSReleaseType": "User", "Ap,ProductType": .string(preset.productType), "Ap,SDKPlatform": "iphoneos",
      "Ap,Target": .string(preset.hardwareModel), "Ap,TargetType": .string(String(preset.hardwareModel.dropLast(2))),
      "Ap,ProductMarketingVersion": .string(preset.ios),
    ]
  }

  /// Why a ticket does not make this phone mount that image; nil when it does.
  func refusal(of ticket: [UInt8], image: [UInt8], trustCache: [UInt8]) -> String? {
    guard let ticket = ImageTicket(ticket) else { return "The ticket is not valid" }
    guard ticket.ecid == identity.ecid, ticket.chipID == Int(preset.chipID), ticket.boardID == preset.boardID else {
      return "The ticket is for another device"
    }
    guard ticket.nonce == personalizationNonce else { return "The ticket's nonce does not match" }
    guard ticket.digests[ImageTicket.image] == image else { return "The ticket is for another image" }
    guard ticket.digests[ImageTicket.trustCache] == SHA384.of(trustCache) else {
      return "The ticket is for another trust cache"
    }
    return nil
  }
}
