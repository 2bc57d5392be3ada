import Transport
import Wire

extension PhoneWork {
  private static let kind: Plist = "DeveloperDiskImage"

  /// Mounts the personalised image of iOS 17 and later: with the ticket that the phone still has for these very bytes,
  /// else with one that is signed now.
  func mountPersonalized(from folder: ImageFolder, _ report: ProgressReport) throws(PhoneError) -> MountOutcome {
    let channel = try open(Self.mounter)
    defer { hangUp(channel) }
    if try isPersonalizedMounted(channel) { return .alreadyMounted }
    let (phone, ecid) = try identifiers(channel)
    let files: PersonalizedFiles
    do throws(ImageFolderError) { files = try PersonalizedFiles(in: folder, for: phone) } catch {
      return .noImage(error)
    }
    let image = try LocalFile(files.image)
    let trustCache = try LocalFile(files.trustCache).whole(limit: 16 << 20)
    guard image.size > 0 else { throw .badRequest(detail: "the image \(files.image) is empty") }

    let ticket: [UInt8]
    if let stored = try storedTicket(for: try digest(of: image)) {
      ticket = stored
    } else {
      guard let service = folder.signing else {
        return .refused(.notSigned, detail: "the phone has no ticket for it, and signing is switched off")
      }
      let request = SigningRequest(identity: files.identity, phone: phone, ecid: ecid, nonce: try nonce(channel))
      do throws(SigningFailure) {
        ticket = try SigningClient(service: service, leash: context.leash, deadline: context.deadline)
          .ticket(for: request)
      } catch {
        if let ended = context.ended(at: "having its developer image signed") { throw ended }
        return .refused(.notSigned, detail: PhoneText.clean("\(service.name): \(error.words)"))
      }
    }
    let upload = ImageUpload(
      file: image, type: "Personalized", signature: ticket, extras: ["ImageTrustCache": .data(trustCache)])
    if let outcome = try deliver(upload, channel, report) { return outcome }
    refreshTunnel()
    return .mounted(version: "personalized", isExact: true)
  }

  /// Some phones name no signature although an image is mounted; their list of devices shows it then.
  func isPersonalizedMounted(_ channel: ServiceChannel) throws(PhoneError) -> Bool {
    if try looksMounted(channel, "Personalized") { return true }
    try channel.send(["Command": "CopyDevices"])
    return try channel.receivePlist()["EntryList"]?.array?.contains { entry in
      entry["DiskImageType"] == "Personalized" && entry["IsMounted"]?.boolean ?? true
    } ?? false
  }

  // MARK: - The ticket

  /// The ticket with which this phone has mounted the same bytes before.
  private func storedTicket(for digest: [UInt8]) throws(PhoneError) -> [UInt8]? {
    // On a connection of its own: a phone that has no ticket ends it.
    let channel = try open(Self.mounter)
    try channel.send([
      "Command": "QueryPersonalizationManifest", "PersonalizedImageType": Self.kind, "ImageType": Self.kind,
      "ImageSignature": .data(digest),
    ])
    let reply: Plist
    do throws(PhoneError) { reply = try channel.receivePlist() } catch .lost { return nil }
    defer { hangUp(channel) }
    return reply["ImageSignature"]?.bytes.flatMap { $0.isEmpty ? nil : $0 }
  }

  private func identifiers(_ channel: ServiceChannel) throws(PhoneError) -> (PersonalizationIdentifiers, ecid: UInt64) {
    let step = "reading what an image is signed for"
    try channel.send(["Command": "QueryPersonalizationIdentifiers", "PersonalizedImageType": Self.kind])
    let reply = try channel.receivePlist()["PersonalizationIdentifiers"] ?? [:]
    let phone: PersonalizationIdentifiers
    do throws(ShapeError) { phone = try PersonalizationIdentifiers(reply) } catch {
      throw .badReply(udid, step: step, detail: PhoneText.clean(error.sentence))
    }
    let told = if let own = reply["UniqueChipID"] { own } else { try value("UniqueChipID") ?? [:] }
    guard case .integer(let number) = told else {
      throw .badReply(udid, step: step, detail: "no chip number")
    }
    return (phone, UInt64(bitPattern: number))
  }

  private func nonce(_ channel: ServiceChannel) throws(PhoneError) -> [UInt8] {
    try channel.send(["Command": "QueryNonce", "PersonalizedImageType": Self.kind])
    guard let nonce = try channel.receivePlist()["PersonalizationNonce"]?.bytes, !nonce.isEmpty else {
      throw .badReply(udid, step: "reading its nonce", detail: "there is none")
    }
    return nonce
  }

  private func digest(of file: LocalFile) throws(PhoneError) -> [UInt8] {
    let digest = SHA384()
    try file.forEachPart { part, _ throws(PhoneError) in
      digest.add(part)
      if let ended = context.ended(at: "reading \(file.path)") { throw ended }
    }
    return digest.finish()
  }

  /// The image brings services with it, and other ports.
  private func refreshTunnel() {
    guard let tunnel = shelf.take() else { return }
    do throws(PhoneError) {
      try readServices(tunnel, by: min(context.deadline, .after(.seconds(3))))
      shelf.rest()
    } catch {
      // The next call opens another one.
      shelf.drop()
    }
  }
}
