import Transport
import Wire

extension PhoneError {
  /// For the operator, in three parts: what happened, the likely cause, the next command to type.
  public var sentence: String {
    switch self {
    case .noMux(let address):
      """
      There is no usbmux socket at \(address). \
      The daemon is not running, or its socket is not visible from here (a container?). \
      Start it: sudo systemctl start usbmuxd
      """
    case .deadMux(let address):
      """
      Nothing listens at the usbmux socket \(address) any more: the connection is refused. \
      The daemon has ended and left its socket behind. \
      Restart it: sudo systemctl restart usbmuxd
      """
    case .notASocket(.tcp(let host, let port)):
      """
      \(PhoneText.clean(host)) is no machine that this one can find, so port \(port) there was not tried. \
      The name is mistyped, or nothing here knows names. \
      Give the right address: fleetctl devices --mux HOST:PORT
      """
    case .notASocket(.unix(let path)) where path.utf8.count > SocketAddress.maximumPathBytes:
      """
      The usbmux socket's path has \(path.utf8.count) bytes, and a socket's path has \
      \(SocketAddress.maximumPathBytes) at most: \(PhoneText.clean(path)). \
      It is mistyped, or the folder lies too deep. \
      Give a shorter one, such as a link to it: fleetctl devices --mux UNIX:/var/run/usbmuxd
      """
    case .notASocket(let address):
      """
      What lies at \(address) is no usbmux socket. \
      The path is wrong, or something else took the socket's place. \
      Give the right one: fleetctl devices --mux UNIX:/var/run/usbmuxd
      """
    case .muxForbidden(let address, let detail):
      """
      The usbmux socket \(address) may not be opened by this user: \(detail). \
      Its rights exclude you; the phones are not at fault. \
      Join the group that owns it, or try: sudo fleetctl devices
      """
    case .muxSilent(let address, let detail):
      """
      The usbmux daemon at \(address) gives no sensible answer: \(detail). \
      It may hang, or something else may listen there. \
      Restart it: sudo systemctl restart usbmuxd
      """
    case .host(let code, let step):
      """
      This machine could not do its part in \(step): \(Errno.text(code)). \
      It is likely out of descriptors, threads or memory. \
      See what it has left: ulimit -n; free -m
      """
    case .absent(let udid):
      """
      Phone \(udid) is not on the bus. \
      Its cable or hub port may be loose, or the daemon has not taken it up: then replug it. \
      See which are there: fleetctl devices
      """
    case .networkOnly(let udid):
      """
      Phone \(udid) is on the network only, and fleetctl never connects to a phone that way. \
      Its cable is out, or the hub gives it no data. \
      Plug it in, then: fleetctl devices
      """
    case .untrusted(let udid, let trust): trust.sentence(udid)
    case .silent(let udid, let step, let limit):
      """
      Phone \(udid) did not answer within \(limit.shown): \(step). \
      It may be asleep, starting up, or its hub stuck. \
      Replug it, or look again: fleetctl devices
      """
    case .lost(let udid, let step):
      """
      Phone \(udid) cut the connection: \(step). \
      It was unplugged, is rebooting, or its cable is loose. \
      Check the cable, then: fleetctl devices
      """
    case .tls(let udid, let detail):
      """
      TLS with phone \(udid) failed (versions 1.0 to 1.3 were offered): \(detail). \
      This host's OpenSSL and the phone found no common ground, or the phone went away; the pair record is kept. \
      Try once more: fleetctl devices
      """
    case .badReply(let udid, let step, let detail):
      """
      Phone \(udid) gave an answer that the protocol does not know: \(step): \(detail). \
      Its iOS may be newer than this program, or the line is disturbed. \
      Replug it, then: fleetctl devices
      """
    case .lockdown(let udid, let step, let token, let code):
      """
      Phone \(udid) refused \(step) with \(token)\(code == 0 ? "" : " (\(code))"). \
      That is the phone's own word; its state or its version of iOS does not allow this. \
      See what it says of itself: fleetctl devices
      """
    case .refused(let udid, let port):
      """
      Nothing is listening on the phone's port \(port); is the app running? \
      It may have ended, be in the background, or use another port. \
      Bring it to the front: fleetctl launch \(udid)
      """
    case .launchRefused(let udid, let refusal, let detail): refusal.sentence(udid, detail)
    case .ended(let udid):
      """
      What was asked of phone \(udid) was ended from this side before it was done. \
      Somebody interrupted it. \
      To see how the phone is now: fleetctl devices
      """
    case .badRequest(let detail):
      """
      This can't be sent to a phone: \(detail). \
      A quote or an escape in what was typed or written may be wrong. \
      Correct it; for the forms see: fleetctl help
      """
    }
  }
}

extension Trust {
  /// Why no session can be had, for the operator.
  fileprivate func sentence(_ udid: UDID) -> String {
    switch self {
    case .untrusted:
      """
      Phone \(udid) is not trusted with this host: there is no pair record for it. \
      Nobody has tapped Trust yet, or the record was deleted. \
      Unlock the phone, then: fleetctl pair \(udid)
      """
    case .pending:
      """
      Phone \(udid) shows the question whether to trust this host. \
      Somebody must unlock the phone and tap Trust. \
      Then: fleetctl pair \(udid)
      """
    case .denied:
      """
      Phone \(udid) was told not to trust this host. \
      Somebody tapped Don't Trust; replugging makes it ask again. \
      Then: fleetctl pair \(udid)
      """
    case .stale:
      """
      Phone \(udid) does not know this host any more (InvalidHostID). \
      It was reset or its trust settings were cleared, so the pair record here is stale. \
      Unlock the phone and pair again: fleetctl pair \(udid)
      """
    case .lockedBeforeFirstUnlock:
      """
      Phone \(udid) has not been unlocked since it was switched on. \
      Until then it opens no session, whoever is trusted. \
      Unlock it once, then: fleetctl devices
      """
    case .unknown, .trusted:
      """
      Whether phone \(udid) trusts this host can't be told. \
      No session could be opened, and the phone did not say why. \
      Look again: fleetctl devices
      """
    }
  }
}

extension LaunchRefusal {
  /// Why the app was not launched, for the operator; `detail` keeps the phone's own text.
  fileprivate func sentence(_ udid: UDID, _ detail: String) -> String {
    let what = "Phone \(udid) did not do what was asked of the app: \(rawValue)\(detail.isEmpty ? "" : " (\(detail))")."
    return switch self {
    case .locked: "\(what) It asks for its passcode; a person must unlock it. Then: fleetctl launch \(udid)"
    case .notInstalled:
      "\(what) No app of that bundle identifier is on it. Install it, or correct the name: fleetctl config show"
    case .noDeveloperImage:
      "\(what) Its developer image is not mounted; a reboot takes it away. Mount it: fleetctl mount \(udid)"
    case .developerModeOff:
      """
      \(what) Developer Mode is off; the switch is under Settings, Privacy & Security, Developer Mode. \
      Switch it on, then: fleetctl launch \(udid)
      """
    case .notDebuggable:
      """
      \(what) This build may not be started by a debugger, as builds from the App Store may not. \
      Install a development build, then: fleetctl launch \(udid)
      """
    case .appUntrusted:
      """
      \(what) iOS does not trust the app's developer; that is under Settings, General, VPN & Device Management. \
      Trust it there, then: fleetctl launch \(udid)
      """
    case .notOnThisIOS:
      """
      \(what) iOS 17.0 to 17.3 can't be asked over the cable; iOS 16 and older can, and so can 17.4 and later. \
      Update the phone, or open the app by hand; whether it is up tells: fleetctl hello \(udid)
      """
    case .appExited:
      "\(what) It started and ended at once; it likely crashed. Look at its state: fleetctl devices"
    case .failed:
      "\(what) That is no reason known here. See how the phone is, then try once more: fleetctl devices"
    }
  }
}
