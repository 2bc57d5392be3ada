import Wire

/// A build before and after an installation.
public struct BuildChange: Equatable, Sendable {
  public var bundle: String
  /// nil where the app was not installed before.
  public var old: InstalledApp?
  public var new: InstalledApp

  public init(bundle: String, old: InstalledApp?, new: InstalledApp) {
    self.bundle = bundle
    self.old = old
    self.new = new
  }

  /// Which build was replaced by which, such as `3.1.0 (398) → 3.2.0 (412)`; the phone's texts are in it as they came.
  public var text: String {
    guard let old else { return Self.text(new) }
    return "\(Self.text(old)) → \(Self.text(new))"
  }

  private static func text(_ app: InstalledApp) -> String { "\(app.version ?? "?") (\(app.build ?? "?"))" }
}

/// What became of an installation.
public enum InstallOutcome: Equatable, Sendable {
  /// The phone said that it is complete. The change is nil where its list of apps shows none.
  case installed(BuildChange?)
  /// The phone's own word, such as ApplicationVerificationFailed, and its own text.
  case refused(token: String, detail: String)

  /// For the operator: what happened, the likely cause, what to do next.
  public func sentence(_ udid: UDID) -> String {
    switch self {
    case .installed(let change?):
      """
      \(PhoneText.clean(change.bundle)) is installed on phone \(udid): \(PhoneText.clean(change.text)). \
      It does not run yet. Start it: fleetctl launch \(udid)
      """
    case .installed(nil):
      """
      Phone \(udid) says that the package is installed, though its list of apps shows no change. \
      The same build may have been there. Start it: fleetctl launch \(udid)
      """
    case .refused(let token, let detail):
      """
      Phone \(udid) did not install the package: \(token)\(detail.isEmpty ? "" : " (\(detail))"). \
      \(Self.cause(token)) Mend the package, then: fleetctl install \(udid) FILE.ipa
      """
    }
  }

  private static func cause(_ token: String) -> String {
    switch token {
    case "ApplicationVerificationFailed":
      "Its signature or provisioning profile does not hold on this phone; the profile may be out of date or lack it."
    case "DeviceOSVersionTooLow": "The package asks for a newer iOS than the phone has."
    case "InstallProhibited": "A profile or supervision of the phone forbids it."
    case "MismatchedApplicationIdentifierEntitlement", "ApplicationVerificationFailedMismatch":
      "An app of that identifier from another developer is there; it must be removed first."
    default: "That is the phone's own word."
    }
  }
}
