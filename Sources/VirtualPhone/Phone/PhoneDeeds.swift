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
    plan(.unlock, nil)
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
  /// - Parameters:
  ///   - away: phone time until it is back.
  ///   - unlocked: phone time from then on until somebody enters the passcode; nil: nobody does.
  ///   - hasImage: the developer image is mounted all the same.
  func reboot(away: Duration, comesBack: Bool, unlocked: Duration? = nil, hasImage: Bool = false) {
    unplug()
    lockdown?.services.closeAll()
    let bootedAt = clock.now + away
    state.with {
      $0.bootSession = Fresh.uuid()
      $0.bootedAt = bootedAt
      $0.locked = $0.passcodeSet
      $0.unlockedSinceBoot = !$0.passcodeSet
      // The image lives in memory.
      $0.developerImageMounted = hasImage
    }
    unwedge()
    app.phoneRebooted()
    plan(.unlock, unlocked.map { (bootedAt + $0, { $0.unlock() }) })
    if comesBack { plugIn(after: away) }
  }

  // MARK: - The cable

  /// Plugs the cable in; what was due to happen to it before is off.
  ///
  /// - Parameter delay: phone time until then.
  func plugIn(after delay: Duration = .zero) {
    guard delay > .zero else {
      plan(.cable, nil)
      bus.attach(self)
      return
    }
    plan(.cable, (clock.now + delay, { $0.bus.attach($0) }))
  }

  /// Pulls the cable, also of a phone that is off the bus because it restarts; what was due to happen to it is off.
  func unplug() {
    plan(.cable, nil)
    bus.detach(self)
  }

  /// - Parameters:
  ///   - delay: phone time until the cable is pulled.
  ///   - away: phone time until it is plugged in again; nil: it is not.
  func unplug(after delay: Duration, for away: Duration?) {
    guard delay > .zero else {
      unplug()
      if let away { plugIn(after: away) }
      return
    }
    plan(.cable, (clock.now + delay, { $0.unplug(after: .zero, for: away) }))
  }

  /// Puts something in the place of what was due.
  ///
  /// - Parameter due: a moment of phone time, and what happens then; nil for nothing.
  func plan(
    _ kind: Plan, _ due: (at: Duration, deed: @Sendable (VirtualPhone) -> Void)?
  ) {
    let ticket = due.map { due in
      timers.schedule(at: due.at) { [weak self] in
        guard let self else { return }
        due.deed(self)
      }
    }
    let before = plans.with {
      let before = $0[kind]
      $0[kind] = ticket
      return before
    }
    timers.cancel(before)
  }

  // MARK: - Trust

  /// - Parameter mode: a word of the action `trust`.
  func trust(_ mode: String, pendingAnswers: Int? = nil) {
    plan(.tap, nil)
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

  /// Somebody taps Trust after so much phone time, if the dialog still shows then.
  ///
  /// - Parameter gap: the phone leaves the bus at that and is back after so much phone time, with a record that works;
  ///   nil: it stays.
  func tapTrust(after delay: Duration, replugged gap: Duration?) {
    plan(
      .tap,
      (
        clock.now + delay,
        { phone in
          guard phone.state.with({ $0.trust == .pending }) else { return }
          guard let gap else { return phone.trust("accept") }
          phone.unplug()
          phone.trust("now")
          phone.plugIn(after: gap)
        }
      ))
  }

  func untrust() {
    state.with {
      $0.pairings = [:]
      $0.pendingAnswersLeft = nil
    }
    for tunnel in tunnels.with({ $0 }) { tunnel.drop("the phone does not trust its hosts any more") }
    bus.records.forget(udid)
  }
}
