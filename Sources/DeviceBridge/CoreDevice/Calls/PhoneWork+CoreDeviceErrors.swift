import Wire

extension PhoneWork {
  /// What a phone's error means: by the deepest code whose meaning is known, else by its words.
  func meaning(of chain: ErrorChain, _ step: String) -> PhoneError {
    let words = PhoneText.clean(chain.words)
    let detail = "\(step): \(words)"
    switch chain.deepestKnown {
    case .locked: return .launchRefused(udid, .locked, detail: detail)
    case .untrusted: return .launchRefused(udid, .appUntrusted, detail: detail)
    case .appNotFound: return .launchRefused(udid, .notInstalled, detail: detail)
    case .busy, .requestDenied, .invalidRequest, .launchFailed:
      // Their own meaning is only that it failed; the texts beneath may say more.
      return .launchRefused(udid, RefusalText.meaning(chain.words), detail: detail)
    case .serviceUnavailable, .unsupportedFeature, .notImplemented, .notPermitted, nil:
      return .lockdown(udid, step: step, token: words, code: Int32(clamping: chain.code))
    }
  }

  /// The same for a launch: every refusal of it is one.
  func launchMeaning(of chain: ErrorChain, _ bundle: String) -> PhoneError {
    let meaning = meaning(of: chain, PhoneText.clean(bundle))
    if case .lockdown(_, let step, let token, _) = meaning {
      return .launchRefused(udid, RefusalText.meaning(chain.words), detail: "\(step): \(token)")
    }
    return meaning
  }
}
