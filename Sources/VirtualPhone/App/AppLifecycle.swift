import Transport
import Wire

/// What came of asking the phone to start an app.
public enum LaunchOutcome: Equatable, Sendable {
  case launched(pid: Int)
  /// The phone's own words, such as `Locked`.
  case refused(String)
}

extension KioskApp {
  /// Starts an app in front, or brings a running one there.
  ///
  /// - Parameters:
  ///   - fresh: ends a running one first.
  ///   - stopped: who has to let the new process go before it runs; nil: nobody.
  ///   - inFront: false leaves what is in front there; a new process is suspended until it comes forward.
  @discardableResult
  func launch(
    _ bundle: String, arguments: [String] = [], environment: [String: String] = [:], fresh: Bool,
    stopped: AppProcess.Stop? = nil, inFront: Bool = true
  ) -> LaunchOutcome {
    let locked = surroundings.isLocked()
    return model.with { model -> LaunchOutcome in
      guard let app = model.installed[bundle] else { return .refused("NotFound") }
      if locked, model.lockedLaunch == .refuse {
        surroundings.log.write(
          "SpringBoard", 34, "Unable to launch \(bundle) because the device was not, or could not be, unlocked",
          level: .error)
        return .refused("Locked")
      }
      if let running = model.processes[bundle] {
        if !fresh {
          guard inFront else { return .launched(pid: running.pid) }
          model.front = bundle
          if bundle == settings.bundle {
            if !locked { comeForward(&model) }
          } else {
            running.go(on: [.system])
            leaveFront(&model)
          }
          return .launched(pid: running.pid)
        }
        end(running, .signal(9), in: &model)
      }
      model.lastPid += 1
      var stops: Set<AppProcess.Stop> = []
      if locked || !inFront { stops.insert(.system) }
      if let stopped { stops.insert(stopped) }
      let process = AppProcess(
        pid: model.lastPid, of: app, arguments: arguments, environment: environment, stopped: stops)
      model.processes[bundle] = process
      if inFront { model.front = bundle }
      surroundings.note("app-started", ["bundle": .string(bundle), "pid": .integer(Int64(process.pid))])
      if bundle == settings.bundle {
        // A start finds what an earlier one left, and removes it.
        if !model.door.broken.contains(.keepsFiles) { removeClips(in: model) }
        model.listener = ListenerState(checksBegan: surroundings.clock.now)
        model.wasAway = !inFront
        if !locked, inFront { comeForward(&model) }
      } else if inFront {
        leaveFront(&model)
      }
      if model.launchFaults[bundle] == .crash { crashSoon(process) }
      let state = inFront ? "foreground" : "suspended"
      surroundings.log.write("SpringBoard", 34, "Application process state changed for \(bundle): running, \(state)")
      return .launched(pid: process.pid)
    }
  }

  /// Ends an app as `SIGKILL` does.
  ///
  /// - Returns: false when it does not run.
  @discardableResult
  func kill(_ bundle: String) -> Bool {
    model.with { model in
      guard let process = model.processes[bundle] else { return false }
      end(process, .signal(9), in: &model)
      return true
    }
  }

  /// Ends this very process; another of the same app stays.
  func end(_ process: AppProcess, _ how: AppProcess.End) {
    model.with { end(process, how, in: &$0) }
  }

  func end(_ process: AppProcess, _ how: AppProcess.End, in model: inout AppModel) {
    guard model.processes[process.bundle] === process else { return process.end(how) }
    surroundings.log.write("SpringBoard", 34, "Process exited: \(process.executable) [\(process.pid)], \(how.text)")
    model.processes[process.bundle] = nil
    if model.front == process.bundle { model.front = nil }
    if process.bundle == settings.bundle {
      // The claim and the band were the process's own; the files stay where they are.
      model.camera.claim?.interrupted.open()
      giveBack(model.camera.claim, in: &model)
      model.camera.band = nil
      closeListener(&model)
      timers.cancel(model.suspension)
    }
    process.end(how)
  }

  // MARK: Front and background

  /// The kiosk app is in front and nothing is before it.
  ///
  /// - Parameter stops: what no longer holds the process.
  func comeForward(_ model: inout AppModel, lifting stops: Set<AppProcess.Stop> = [.system, .tester]) {
    guard let process = model.processes[settings.bundle] else { return }
    timers.cancel(model.suspension)
    process.go(on: stops)
    if model.wasAway, model.door.broken.contains(.doorNeverReturns) { dropListener(&model, of: process) }
    model.wasAway = false
    reopenListener(&model, because: "front")
  }

  /// Something else is in front: iOS takes the camera and lets the app run on for a while.
  func leaveFront(_ model: inout AppModel, for time: Duration = backgroundTime) {
    model.camera.claim?.interrupted.open()
    limitBackgroundTime(&model, time)
  }

  func limitBackgroundTime(_ model: inout AppModel, _ time: Duration = backgroundTime) {
    guard let process = model.processes[settings.bundle] else { return }
    model.wasAway = true
    timers.cancel(model.suspension)
    model.suspension = timers.schedule(at: surroundings.clock.now + time) { [surroundings] in
      process.stop(.system)
      surroundings.note("app-suspended", ["pid": .integer(Int64(process.pid))])
    }
  }
}
