import Wire

/// What the phone says of its developer image.
public struct DeveloperImage: Equatable, Sendable {
  /// The phone's iOS, read together with it.
  public var ios: String
  public var isMounted: Bool
  /// iOS 17 and later: the image is made for one phone, and is another one.
  public var isPersonalized: Bool

  public init(ios: String, isMounted: Bool, isPersonalized: Bool) {
    self.ios = ios
    self.isMounted = isMounted
    self.isPersonalized = isPersonalized
  }
}

/// What became of mounting a developer image.
public enum MountOutcome: Equatable, Sendable {
  /// The phone said explicitly that it is complete.
  case mounted(version: String, isExact: Bool)
  /// There was one already; nothing was sent.
  case alreadyMounted
  /// The folder has no image for the phone.
  case noImage(ImageFolderError)
  /// The phone's own word and text are in the detail.
  case refused(MountRefusal, detail: String)

  /// For the operator: what happened, the likely cause, what to do next.
  public func sentence(_ udid: UDID) -> String {
    switch self {
    case .mounted(let version, true):
      "The developer image \(version) is mounted on phone \(udid). Until its next boot it stays. See: fleetctl devices"
    case .mounted(let version, false):
      """
      The developer image \(version) is mounted on phone \(udid), though it was made for an older iOS than the phone's. \
      That was asked for; should launches fail, the exact image is needed. See: fleetctl launch \(udid)
      """
    case .alreadyMounted:
      "A developer image is mounted on phone \(udid) already. Nothing was sent. See: fleetctl launch \(udid)"
    case .noImage(let error) where error.isPersonalized:
      """
      No developer image could be mounted on phone \(udid): \(error.clause). \
      From iOS 17 on it needs the unpacked image that lists its model, under personalized in the folder of images. \
      Put it there, then: fleetctl mount \(udid)
      """
    case .noImage(let error):
      """
      No developer image could be mounted on phone \(udid): \(error.clause). \
      The image must fit the phone's iOS. \
      Put it there, or take the nearest: fleetctl mount \(udid) --near
      """
    case .refused(let refusal, let detail):
      "Phone \(udid) did not mount the developer image: \(refusal.rawValue) (\(detail)). \(refusal.advice(udid))"
    }
  }
}

/// Why a phone did not mount the image that it was offered.
public enum MountRefusal: String, Sendable, CaseIterable {
  case locked
  case developerModeOff = "developer-mode-off"
  /// iOS 17 and later take the personalised image only, not a file for one version.
  case notOnThisIOS = "not-on-this-ios"
  /// Nobody signed the image for this phone.
  case notSigned = "not-signed"
  case refused

  fileprivate func advice(_ udid: UDID) -> String {
    switch self {
    case .locked: "It asks for its passcode; a person must unlock it. Then: fleetctl mount \(udid)"
    case .developerModeOff:
      """
      The switch is under Settings, Privacy & Security, Developer Mode. \
      Switch it on, then: fleetctl mount \(udid)
      """
    case .notOnThisIOS:
      "From iOS 17 on one image serves all versions and is signed for each phone. Leave the file to it: fleetctl mount \(udid)"
    case .notSigned:
      """
      Once for each phone and image a signing server must be reached; afterwards the phone has its ticket. \
      See images: {signing: …} in fleet.yaml, then: fleetctl mount \(udid)
      """
    case .refused: "The image may be for another iOS, or damaged. Get it anew, then: fleetctl mount \(udid)"
    }
  }
}
