import Wire

/// The errors that a refused launch comes back with: CoreDevice's own, and beneath it those of FrontBoard.
///
/// - Source: public logs of devicectl and Xcode; the texts of some are assumed.
extension ErrorChain {
  static let launchService = "FBSOpenApplicationServiceErrorDomain"
  static let launcher = "FBSOpenApplicationErrorDomain"

  static func launch(_ refusal: ServiceLaunch.Refusal, _ bundle: String) -> ErrorChain {
    let bundle = String(bundle.prefix(256))
    switch refusal {
    case .locked:
      let text = "Unable to launch \(bundle) because the device was not, or could not be, unlocked."
      return denied(bundle, for: "Locked", text, code: 7)
    case .security:
      let text =
        "Unable to launch \(bundle) because it has an invalid code signature, inadequate entitlements or its profile "
        + "has not been explicitly trusted by the user."
      return denied(bundle, for: "Security", text, code: 3)
    case .busy: return denied(bundle, for: "Busy", "Application failed preflight checks", code: 6)
    case .notFound:
      let text = "Application info provider (FBSApplicationLibrary) returned nil for \"\(bundle)\""
      return failed(
        bundle,
        ErrorChain(
          domain: launchService, code: 4, description: "The request to open \"\(bundle)\" failed.",
          failureReason: "\(text).", codeName: "InvalidRequest",
          underlying: [ErrorChain(domain: launcher, code: 4, failureReason: text, codeName: "NotFound")]))
    case .other(let text):
      guard !text.isEmpty else { return ErrorChain(domain: coreDevice, code: 10002) }
      return failed(
        bundle, ErrorChain(domain: launchService, code: 1, description: text, codeName: "RequestDenied"))
    }
  }

  /// A signal for a process that is not there, or not the host's to signal; `number` is an errno of Darwin.
  static func signal(_ number: Int64, _ text: String) -> ErrorChain {
    ErrorChain(
      domain: coreDevice, code: 10005, description: "The process could not be signaled.",
      underlying: [ErrorChain(domain: "NSPOSIXErrorDomain", code: number, description: text)])
  }

  private static func denied(_ bundle: String, for name: String, _ text: String, code: Int64) -> ErrorChain {
    failed(
      bundle,
      ErrorChain(
        domain: launchService, code: 1, description: "The request to open \"\(bundle)\" failed.",
        failureReason:
          "The request was denied by service delegate (SBMainWorkspace) for reason: \(name) (\"\(text)\").",
        codeName: "RequestDenied",
        underlying: [ErrorChain(domain: launcher, code: code, failureReason: text, codeName: name)]))
  }

  private static func failed(_ bundle: String, _ underlying: ErrorChain) -> ErrorChain {
    ErrorChain(
      domain: coreDevice, code: 10002, description: "The application failed to launch.", underlying: [underlying])
  }
}
