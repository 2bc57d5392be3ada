import Wire

/// Why a phone, or the daemon in front of it, did not do what was asked. Cases carry data; `sentence` is made in Sentences.
public enum PhoneError: Error, Equatable, Sendable {
  // The daemon's socket.
  /// No socket at the address.
  case noMux(MuxAddress)
  /// A socket file that nothing listens on any more.
  case deadMux(MuxAddress)
  /// Something else lies at the socket's place.
  case notASocket(MuxAddress)
  /// The socket may not be opened; `detail` names mode, owner and the current user.
  case muxForbidden(MuxAddress, detail: String)
  /// The daemon is there and does not answer, or not sensibly.
  case muxSilent(MuxAddress, detail: String)
  /// This host could not do its part, such as open one more descriptor; the number is an errno.
  case host(code: Int32, step: String)

  // The phone.
  /// Not on the bus (any more).
  case absent(UDID)
  /// Only a network entry exists, which is never connected to.
  case networkOnly(UDID)
  /// No session: why, as trust.
  case untrusted(UDID, Trust)
  /// A wait ended at its limit.
  case silent(UDID, step: String, limit: Duration)
  /// The phone left or cut the connection in the middle of a step.
  case lost(UDID, step: String)
  /// The TLS handshake failed.
  case tls(UDID, detail: String)
  /// An answer that is not what the protocol allows.
  case badReply(UDID, step: String, detail: String)
  /// Lockdown's own error token, such as InvalidService, and libimobiledevice's number for it.
  case lockdown(UDID, step: String, token: String, code: Int32)
  /// Nothing listens on that device port.
  case refused(UDID, port: UInt16)
  /// A launch that the phone refused.
  case launchRefused(UDID, LaunchRefusal, detail: String)

  // This side.
  /// The call was ended from here: cancelled, or its link closed.
  case ended(UDID)
  /// What was asked can't be sent as it stands, such as a header with a line break in it.
  case badRequest(detail: String)
}

/// Why a launch was refused: docs/watch.md's reasons of `launch-refused`, and locked.
public enum LaunchRefusal: String, Sendable, CaseIterable {
  case locked
  case notInstalled = "not-installed"
  case noDeveloperImage = "no-developer-image"
  case developerModeOff = "developer-mode-off"
  case notDebuggable = "not-debuggable"
  case appUntrusted = "app-untrusted"
  case notOnThisIOS = "not-on-this-ios"
  case appExited = "app-exited"
  case failed
}
