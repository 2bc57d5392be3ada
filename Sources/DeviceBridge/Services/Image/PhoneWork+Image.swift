import Transport
import Wire

extension PhoneWork {
  static let mounter = "com.apple.mobile.mobile_image_mounter"
  /// Where the phone keeps what it is sent until it is mounted; only the form matters.
  private static let staging = "/private/var/mobile/Media/PublicStaging/staging.dimage"

  func developerImage() throws(PhoneError) -> DeveloperImage {
    let ios = try systemVersion()
    let channel = try open(Self.mounter)
    let isPersonalized = ios.major >= 17
    let isMounted = try isPersonalized ? isPersonalizedMounted(channel) : looksMounted(channel, "Developer")
    hangUp(channel)
    return DeveloperImage(ios: ios.text, isMounted: isMounted, isPersonalized: isPersonalized)
  }

  func mount(from folder: ImageFolder, near: Bool, _ report: ProgressReport) throws(PhoneError) -> MountOutcome {
    // Read anew each time: the phone may have been updated since.
    let ios = try systemVersion()
    if let outcome = try obstacle(ios) { return outcome }
    if ios.major >= 17 { return try mountPersonalized(from: folder, report) }
    let image: ImageFiles
    do throws(ImageFolderError) { image = try folder.image(for: ios.text, near: near) } catch { return .noImage(error) }
    return try send(image, report)
  }

  func mount(_ image: ImageFiles, _ report: ProgressReport) throws(PhoneError) -> MountOutcome {
    let ios = try systemVersion()
    if ios.major >= 17 { return .refused(.notOnThisIOS, detail: "iOS \(ios.text)") }
    if let outcome = try obstacle(ios) { return outcome }
    return try send(image, report)
  }

  /// What makes an upload needless, found out before it.
  private func obstacle(_ ios: SystemVersion) throws(PhoneError) -> MountOutcome? {
    if ios.major >= 16, try value("DeveloperModeStatus", in: "com.apple.security.mac.amfi") == .boolean(false) {
      return .refused(.developerModeOff, detail: "DeveloperModeStatus")
    }
    return nil
  }

  private func send(_ image: ImageFiles, _ report: ProgressReport) throws(PhoneError) -> MountOutcome {
    let signature = try LocalFile(image.signature).whole(limit: 4096)
    let file = try LocalFile(image.image)
    guard file.size > 0, !signature.isEmpty else {
      throw .badRequest(detail: "the image \(image.image) or its signature is empty")
    }
    let channel = try open(Self.mounter)
    if try looksMounted(channel, "Developer") {
      hangUp(channel)
      return .alreadyMounted
    }
    let upload = ImageUpload(
      file: file, type: "Developer", signature: signature, extras: ["ImagePath": .string(Self.staging)])
    if let outcome = try deliver(upload, channel, report) { return outcome }
    hangUp(channel)
    return .mounted(version: image.version, isExact: image.isExact)
  }

  /// Sends an image and has it mounted.
  ///
  /// - Returns: nil once the phone has said that it is complete, else what it said instead.
  func deliver(
    _ upload: ImageUpload, _ channel: ServiceChannel, _ report: ProgressReport
  ) throws(PhoneError) -> MountOutcome? {
    do throws(MounterRefusal) {
      try send(upload, channel, report)
      try ask(channel, upload.mounting, for: "Complete")
      missing = []
      return nil
    } catch {
      switch error {
      case .failed(let error): throw error
      case .said(let token, let detail): return Self.outcome(token, detail)
      }
    }
  }

  private func send(
    _ upload: ImageUpload, _ channel: ServiceChannel, _ report: ProgressReport
  ) throws(MounterRefusal) {
    try ask(channel, upload.sending, for: "ReceiveBytesAck")
    let file = upload.file
    do throws(PhoneError) {
      try file.forEachPart { part, sent throws(PhoneError) in
        try channel.send(part)
        report(.sent(bytes: sent, of: file.size))
      }
    } catch {
      throw .failed(error)
    }
    try expect(channel, "Complete")
  }

  // MARK: - The dialogue

  func looksMounted(_ channel: ServiceChannel, _ type: String) throws(PhoneError) -> Bool {
    try channel.send(["Command": "LookupImage", "ImageType": .string(type)])
    let reply = try channel.receivePlist()
    if let token = reply["Error"]?.string {
      throw .lockdown(udid, step: "looking for its developer image", token: PhoneText.clean(token), code: 0)
    }
    // Old phones say it, newer ones name the signatures of what is mounted.
    if reply["ImagePresent"]?.boolean == true { return true }
    if let signatures = reply["ImageSignature"]?.array { return !signatures.isEmpty }
    return reply["ImageSignature"]?.bytes?.isEmpty == false
  }

  private func ask(_ channel: ServiceChannel, _ request: Plist, for status: String) throws(MounterRefusal) {
    do throws(PhoneError) { try channel.send(request) } catch { throw .failed(error) }
    try expect(channel, status)
  }

  /// Only the explicit word counts as success; silence about it is a failure.
  private func expect(_ channel: ServiceChannel, _ status: String) throws(MounterRefusal) {
    let reply: Plist
    do throws(PhoneError) { reply = try channel.receivePlist() } catch { throw .failed(error) }
    if reply["Error"] == nil, reply["Status"]?.string == status { return }
    let token = reply["Error"]?.string ?? reply["Status"]?.string.map { "Status \($0)" } ?? "neither status nor error"
    throw .said(PhoneText.clean(token), PhoneText.clean(reply["DetailedError"]?.string ?? ""))
  }

  func hangUp(_ channel: ServiceChannel) {
    // A farewell only: what was asked has been answered.
    try? channel.send(["Command": "Hangup"])
  }

  private static func outcome(_ token: String, _ detail: String) -> MountOutcome {
    let text = detail.lowercased()
    if text.contains("already mounted") { return .alreadyMounted }
    let all = detail.isEmpty ? token : "\(token): \(detail)"
    if token == "DeviceLocked" || token == "PasswordProtected" { return .refused(.locked, detail: all) }
    if text.contains("developer mode is not enabled") { return .refused(.developerModeOff, detail: all) }
    return .refused(.refused, detail: all)
  }

  /// The phone's iOS, read anew.
  func systemVersion() throws(PhoneError) -> SystemVersion {
    let text = try value("ProductVersion")?.string ?? ""
    guard let version = SystemVersion(text) else {
      throw .badReply(udid, step: "reading its version", detail: "\"\(PhoneText.clean(text))\" is no version")
    }
    return version
  }
}

/// An image on its way to a phone.
struct ImageUpload {
  let file: LocalFile
  let type: String
  let signature: [UInt8]
  /// What only this type of image is mounted with.
  let extras: [String: Plist]

  var sending: Plist {
    [
      "Command": "ReceiveBytes", "ImageType": .string(type), "ImageSize": .integer(Int64(file.size)),
      "ImageSignature": .data(signature),
    ]
  }

  var mounting: Plist {
    let own: [String: Plist] = [
      "Command": "MountImage", "ImageType": .string(type), "ImageSignature": .data(signature),
    ]
    return .dictionary(own.merging(extras) { own, _ in own })
  }
}

/// Why the dialogue with the image mounter ended.
private enum MounterRefusal: Error {
  /// The phone's token and text.
  case said(String, String)
  case failed(PhoneError)
}
