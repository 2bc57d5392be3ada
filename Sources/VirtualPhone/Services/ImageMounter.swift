import Transport
import Wire

/// mobile_image_mounter: the developer image, whether it is there, and mounting it.
struct ImageMounter: DeviceService {
  let names = ["com.apple.mobile.mobile_image_mounter"]
  let needs = ServiceNeeds()

  /// Bytes; the images of real phones stay under a tenth of it. They are counted and thrown away.
  static let imageLimit = 1 << 30

  func serve(_ connection: ServiceConnection) {
    var upload: DeveloperImage?
    while let request = connection.receive() {
      let phone = connection.phone
      switch request["Command"]?.string {
      case "LookupImage": connection.send(lookup(request["ImageType"]?.string, phone))
      case "CopyDevices":
        connection.send(["EntryList": phone.isImageMounted ? [phone.mountedImage] : [], "Status": "Complete"])
      case "ReceiveBytes":
        guard let received = receiveImage(request, connection) else { return }
        upload = received
      case "MountImage":
        guard mountOrPretend(request, upload, connection) else { return }
      case "UnmountImage": unmount(request, connection)
      case "QueryDeveloperModeStatus" where phone.preset.major >= 16:
        connection.send(["DeveloperModeStatus": .boolean(phone.state.with { $0.developerMode })])
      case "QueryNonce" where phone.preset.major >= 17:
        connection.send(["PersonalizationNonce": .data(phone.personalizationNonce)])
      case "QueryPersonalizationIdentifiers" where phone.preset.major >= 17:
        connection.send(["PersonalizationIdentifiers": phone.personalizationIdentifiers])
      case "QueryPersonalizationManifest" where phone.preset.major >= 17:
        guard sendManifest(request, connection) else { return }
      case "RollPersonalizationNonce" where phone.preset.major >= 17:
        phone.state.with { $0.personalization.roll() }
        phone.record("personalization-nonce-rolled")
        connection.send(["Status": "Complete"])
      case "Hangup":
        connection.send(["Goodbye": true])
        return
      default: refuse(connection, "UnknownCommand", nil)
      }
    }
  }

  private func lookup(_ type: String?, _ phone: VirtualPhone) -> Plist {
    let isThere = phone.isImageMounted && type == phone.imageType
    phone.record("image-looked-up", ["mounted": .boolean(isThere), "type": .text(type)])
    switch phone.rules.with({ $0.mount.lookup }) {
    case .present: return ["ImagePresent": .boolean(isThere), "Status": "Complete"]
    case .single where isThere: return ["ImageSignature": .data(phone.imageSignature), "Status": "Complete"]
    case .array where isThere: return ["ImageSignature": [.data(phone.imageSignature)], "Status": "Complete"]
    case .unsigned where isThere: return ["ImageSignature": [], "Status": "Complete"]
    case .single, .array, .unsigned: return ["Status": "Complete"]
    }
  }

  /// The ticket with which the phone has mounted this very image before.
  ///
  /// - Returns: whether the connection goes on: where there is none, the phone ends it.
  private func sendManifest(_ request: Plist, _ connection: ServiceConnection) -> Bool {
    let image = request["ImageSignature"]?.bytes ?? []
    let ticket = connection.phone.state.with { $0.personalization.ticket(for: image) }
    connection.phone.record("personalization-manifest-asked", ["known": .boolean(ticket != nil)])
    guard let ticket else {
      refuse(connection, "InternalError", "There is no personalization manifest for this image")
      return false
    }
    return connection.send(["ImageSignature": .data(ticket)])
  }

  /// - Returns: nil when the host has gone or what it claims is out of bounds.
  private func receiveImage(_ request: Plist, _ connection: ServiceConnection) -> DeveloperImage? {
    guard let size = request["ImageSize"]?.int, size > 0, size <= Self.imageLimit else {
      refuse(connection, "InternalError", "The image's size is out of bounds")
      return nil
    }
    guard !connection.phone.state.with({ $0.locked }) else {
      refuse(connection, "DeviceLocked", nil)
      return nil
    }
    guard connection.send(["Status": "ReceiveBytesAck"]) else { return nil }
    let type = request["ImageType"]?.string ?? ""
    let digest = type == DeveloperImage.personalized ? SHA384() : nil
    var left = size
    var head: [UInt8] = []
    while left > 0 {
      guard let part = try? connection.stream.read(max: min(left, 1 << 18), by: .after(.seconds(60))), !part.isEmpty
      else { return nil }
      left -= part.count
      digest?.add(part)
      if head.count < DeveloperImage.headSize { head += part.prefix(DeveloperImage.headSize) }
    }
    let image = DeveloperImage(
      type: type, signature: request["ImageSignature"]?.bytes ?? [], head: head, digest: digest?.finish())
    connection.phone.record(
      "image-received",
      [
        "bytes": .integer(Int64(size)), "type": .string(String(image.type.prefix(64))),
        "version": .text(image.version.map { $0.map(String.init).joined(separator: ".") }),
      ])
    connection.send(["Status": "Complete"])
    return image
  }

  /// - Returns: whether the connection goes on.
  private func mountOrPretend(_ request: Plist, _ upload: DeveloperImage?, _ connection: ServiceConnection) -> Bool {
    let rules = connection.phone.rules.with { $0.mount }
    guard let reply = rules.reply else {
      mount(request, upload, connection)
      return true
    }
    connection.phone.record("image-mount-refused", ["reply": .string(reply.rawValue)])
    switch reply {
    case .failed: refuse(connection, "ImageMountFailed", rules.detail)
    case .error: refuse(connection, "InternalError", rules.detail)
    case .empty: connection.send([:])
    case .silent: break
    case .close: return false
    }
    return true
  }

  private func mount(_ request: Plist, _ upload: DeveloperImage?, _ connection: ServiceConnection) {
    let phone = connection.phone
    let type = request["ImageType"]?.string ?? ""
    let (locked, developerMode) = phone.state.with { ($0.locked, $0.developerMode) }
    if locked { return refuse(connection, "DeviceLocked", nil) }
    if phone.preset.major >= 16, !developerMode {
      return refuse(connection, "ImageMountFailed", "Developer mode is not enabled")
    }
    guard type == phone.imageType else {
      return refuse(
        connection, "ImageMountFailed", "Images of type \(type.prefix(64)) cannot be mounted on this system")
    }
    if phone.isImageMounted {
      return refuse(connection, "ImageMountFailed", "The disk image is already mounted at \(phone.imagePath)")
    }
    guard let signature = request["ImageSignature"]?.bytes, !signature.isEmpty else {
      return refuse(connection, "MissingImageSignature", nil)
    }
    guard let upload, upload.type == type else {
      return refuse(connection, "ImageMountFailed", "There is no image to mount")
    }
    guard upload.signature == signature else {
      return refuse(connection, "ImageMountFailed", "The signature is not that of the image")
    }
    if let digest = upload.digest {
      let trustCache = request["ImageTrustCache"]?.bytes ?? []
      if let refusal = phone.refusal(of: signature, image: digest, trustCache: trustCache) {
        phone.record("image-ticket-refused", ["because": .string(refusal)])
        return refuse(connection, "ImageMountFailed", refusal)
      }
      phone.state.with { $0.personalization.keep(signature, for: digest) }
    } else if !upload.fits(phone.preset.ios) {
      return refuse(connection, "ImageMountFailed", "The image is not for iOS \(phone.preset.ios)")
    }
    phone.rules.with { $0.mount.signature = signature }
    phone.state.with { $0.developerImageMounted = true }
    phone.record("image-mounted", ["type": .string(type)])
    connection.send(["Status": "Complete"])
    phone.notifications.post("com.apple.mobile.developer_image_mounted")
  }

  private func unmount(_ request: Plist, _ connection: ServiceConnection) {
    let phone = connection.phone
    let path = request["MountPath"]?.string ?? ""
    guard phone.isImageMounted, path == phone.imagePath else {
      return refuse(
        connection, "InternalError", "There is no matching entry in the device map for \(path.prefix(256))")
    }
    phone.rules.with { $0.mount.signature = nil }
    phone.state.with { $0.developerImageMounted = false }
    phone.record("image-unmounted")
    connection.send(["Status": "Complete"])
  }

  private func refuse(_ connection: ServiceConnection, _ error: String, _ detail: String?) {
    var reply: [String: Plist] = ["Error": .string(error)]
    if let detail { reply["DetailedError"] = .string(detail) }
    connection.send(.dictionary(reply))
  }
}

extension VirtualPhone {
  var isImageMounted: Bool { state.with { $0.developerImageMounted } }
  var imageType: String { preset.major >= 17 ? DeveloperImage.personalized : "Developer" }
  var imagePath: String { preset.major >= 17 ? "/System/Developer" : "/Developer" }
  /// Of the image that is mounted; one that was there before the host came has one too.
  fileprivate var imageSignature: [UInt8] {
    rules.with { $0.mount.signature } ?? [UInt8](repeating: 0x5A, count: 128)
  }
  fileprivate var mountedImage: Plist {
    var entry: [String: Plist] = [
      "DeviceNode": "/dev/disk2s1", "DiskImageType": .string(imageType), "ImageSignature": .data(imageSignature),
      "IsMounted": true, "MountPath": .string(imagePath),
    ]
    if preset.major >= 17 { entry["PersonalizedImageType"] = "DeveloperDiskImage" }
    return .dictionary(entry)
  }
}
