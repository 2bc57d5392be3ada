import Transport
import Wire

/// The door's listening socket, and how the app gets it back.
///
/// The app sends `GET /hello` to its own port every 20 s; two misses in a row reopen the listener. While the listener
/// lives the check's result is known, so none is made: only a dead one has a timer. Wrong answers that the door is made
/// to give are no misses: they last until the tester ends them.
extension KioskApp {
  static let checkInterval = Duration.seconds(20)
  /// A check of a dead port fails by its own limit, not at once.
  static let checkLimit = Duration.seconds(10)

  /// The app's own way: opens it unless the app is broken in that respect.
  func reopenListener(_ model: inout AppModel, because reason: String) {
    if model.listener.hasOpened, model.door.broken.contains(.doorNeverReturns) { return }
    openListener(&model, because: reason)
  }

  func openListener(_ model: inout AppModel, because reason: String) {
    guard let process = model.processes[settings.bundle], !model.listener.isOpen else { return }
    if !model.listener.hasOpened, model.door.broken.contains(.noDoorAtStart) { return }
    if model.listener.hasOpened { surroundings.note("door-reopened", ["because": .string(reason)]) }
    timers.cancel(model.listener.rescue)
    model.listener.rescue = nil
    model.listener.isOpen = true
    model.listener.hasOpened = true
    log("door: listening on port \(settings.doorPort)", by: process)
    surroundings.listen(settings.doorPort) { [weak self] socket in self?.serveDoor(socket, for: process) }
  }

  /// The process has ended: nothing opens it again.
  func closeListener(_ model: inout AppModel) {
    timers.cancel(model.listener.rescue)
    if model.listener.isOpen { surroundings.close(settings.doorPort) }
    model.listener = ListenerState()
  }

  /// iOS takes the listener and its connections away.
  ///
  /// - Parameter noticed: the app is told and reopens it at once; otherwise only its own check finds out.
  /// - Returns: false when there was none.
  func loseListener(noticed: Bool) -> Bool {
    model.with { model in
      guard model.listener.isOpen, let process = model.processes[settings.bundle] else { return false }
      dropListener(&model, of: process)
      if noticed {
        reopenListener(&model, because: "noticed")
      } else {
        planRescue(&model)
      }
      return true
    }
  }

  /// The listener and its connections are gone.
  func dropListener(_ model: inout AppModel, of process: AppProcess) {
    if model.listener.isOpen { surroundings.close(settings.doorPort) }
    process.endConnections()
    model.listener.isOpen = false
  }

  /// Finds the moment at which the second check in a row will have missed.
  func planRescue(_ model: inout AppModel) {
    timers.cancel(model.listener.rescue)
    model.listener.rescue = nil
    guard let process = model.processes[settings.bundle], !model.listener.isOpen, model.listener.hasOpened,
      model.door.broken.isDisjoint(with: [.noSelfHeal, .doorNeverReturns])
    else { return }
    let now = surroundings.clock.now
    let since = (now - model.listener.checksBegan) / Self.checkInterval
    let first = model.listener.checksBegan + Self.checkInterval * Int(since.rounded(.up))
    let second = first + Self.checkLimit + Self.checkInterval
    model.listener.rescue = timers.schedule(at: second + Self.checkLimit) { [weak self] in
      self?.rescue(process)
    }
  }

  private func rescue(_ process: AppProcess) {
    model.with { model in
      model.listener.rescue = nil
      // A stopped process checks nothing; going on, it begins anew.
      guard model.processes[settings.bundle] === process, !process.isStopped,
        model.door.broken.isDisjoint(with: [.noSelfHeal, .doorNeverReturns])
      else { return }
      reopenListener(&model, because: "two checks missed")
    }
  }
}
