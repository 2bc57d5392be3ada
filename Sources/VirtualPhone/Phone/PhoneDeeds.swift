import Transport

/// What happens to the phone as a whole; each also tells the app and the notifications.
extension VirtualPhone {
  private static let lockState = "com.apple.springboard.lockstate"

  /// The side button. A phone without a passcode goes dark and asks for nothing.
  func lock() {
    let changed = state.with {
      let changed = $0.passcodeSet && !$0.locked
      $0.locked = $0.locked || $0.passcodeSet
      return changed
    }
    guard changed else { return }
    app.phoneLocked()
    notifications.post(Self.lockState)
  }

  func unlock() {
    let (changed, isFirst) = state.with {
      let before = ($0.locked, !$0.unlockedSinceBoot)
      $0.locked = false
      $0.unlockedSinceBoot = true
      return before
    }
    if isFirst { notifications.post("com.apple.mobile.keybagd.first_unlock") }
    guard changed else { return }
    app.phoneUnlocked()
    notifications.post(Self.lockState)
  }

  /// Off the bus and back under a new number; locked until the first unlock where a passcode is set.
  ///
  /// - Parameter away: phone time until it is back.
  func reboot(away: Duration, comesBack: Bool) {
    unplug()
    lockdown?.services.closeAll()
    let bootedAt = clock.now + away
    state.with {
      $0.bootSession = Fresh.uuid()
      $0.bootedAt = bootedAt
      $0.locked = $0.passcodeSet
      $0.unlockedSinceBoot = !$0.passcodeSet
      // The image lives in memory.
      $0.developerImageMounted = false
    }
    app.phoneRebooted()
    guard comesBack else { return }
    guard away > .zero else {
      bus.attach(self)
      return
    }
    let ticket = timers.schedule(at: bootedAt) { [weak self] in
      guard let self else { return }
      bus.attach(self)
    }
    self.comesBack.with { $0 = ticket }
  }

  /// Pulls the cable, also of a phone that is off the bus because it restarts.
  func unplug() {
    stayAway()
    bus.detach(self)
  }

  /// A phone that restarts does not come back by itself.
  func stayAway() {
    let ticket = comesBack.with {
      let ticket = $0
      $0 = nil
      return ticket
    }
    timers.cancel(ticket)
  }

  /// - Parameter mode: a word of the action `trust`.
  func trust(_ mode: String, pendingAnswers: Int?) {
    switch mode {
    case "now":
      untrust()
      state.with { $0.trust = .accept }
      lockdown?.trustFleetHost()
      bus.records.copy(udid, to: state.with { $0.listing }.spelling(of: udid))
    case "ask":
      untrust()
      state.with {
        $0.trust = .pending
        $0.pendingAnswersLeft = pendingAnswers
      }
    case "accept":
      let wasPending = state.with {
        let wasPending = $0.trust == .pending
        $0.trust = .accept
        return wasPending
      }
      // Whoever showed the dialog is told to ask again.
      if wasPending { notifications.post("com.apple.mobile.lockdown.request_pair") }
    case "deny":
      untrust()
      state.with { $0.trust = .deny }
    default:
      state.with { $0.pairings = [:] }
    }
  }

  func untrust() {
    state.with {
      $0.pairings = [:]
      $0.pendingAnswersLeft = nil
    }
    bus.records.forget(udid)
  }
}
