import DeviceBridge
import Fleet
import Transport
import Wire

/// What the phone says about a state. Unreadable is never taken for true.
enum StateReading: Equatable, Sendable {
  case holds(String)
  /// The phone says otherwise.
  case denied(String)
  /// The phone is there and does not tell.
  case unreadable(String)
  /// The app's door is silent, so that the app does not tell: the phone may have done all it can.
  case mute(String)
  /// No phone tells that: whoever brings it about has the last word.
  case untold(String)
  /// The phone or the mux could not be reached.
  case unreachable(String)

  var holds: Bool { if case .holds = self { true } else { false } }

  var text: String {
    switch self {
    case .holds(let text), .denied(let text), .unreadable(let text), .mute(let text), .untold(let text),
      .unreachable(let text):
      text
    }
  }
}

extension PhoneError {
  /// The phone is there and opens no session before its first unlock: its lock's doing, and no trouble of the cable's.
  var isBeforeFirstUnlock: Bool { if case .untrusted(_, .lockedBeforeFirstUnlock) = self { true } else { false } }
}

extension Scene {
  /// How long one look at a phone may take on the host's clock.
  static let lookLimit = Duration.seconds(15)
  private static let stopped = StateReading.unreadable("the run was stopped")

  /// Reads a state from the phone, anew.
  func read(_ state: BodyState) async -> StateReading {
    switch state {
    case .locked: await readLock(.locked)
    case .unlocked: await readLock(.unlocked)
    case .inFront: await readActive(true)
    case .inBackground: await readActive(false)
    case .notRunning: await readNotRunning()
    case .suspended: await readSilence(Self.isMute)
    case .listenerDead: await readSilence(Self.isRefused)
    case .cameraBusy: await readCapturing(true)
    case .cameraStuck: .untold("no phone tells whether its camera is stuck")
    case .cameraGranted: await readGrant("authorized")
    case .cameraDenied: await readGrant("denied")
    case .appInstalled: await readInstalled()
    case .rebooted: await readRebooted()
    case .beforeFirstUnlock: await readBeforeFirstUnlock()
    case .tokenConfigured: readToken()
    }
  }

  func read(_ rest: Rest) async -> StateReading {
    switch rest {
    case .state(let state): await read(state)
    case .cameraFree: await readCapturing(false)
    case .cameraWorks: .untold("no phone tells whether its camera works")
    }
  }

  /// The lock as the phone tells it now; nil when the run was stopped meanwhile.
  func lock() async -> LockReading? {
    await unlessCancelled { [link] in await link.lock(by: .after(Self.lookLimit)) }
  }

  private func readLock(_ wanted: LockState) async -> StateReading {
    guard let reading = await lock() else { return Self.stopped }
    switch reading.state {
    case .unknown: return .unreadable("the lock cannot be read: \(reading.why)")
    case .locked, .unlocked:
      let text = "the phone is \(reading.state.rawValue)"
      return reading.state == wanted ? .holds(text) : .denied(text)
    }
  }

  /// Where a phone that has not been unlocked yet is to be told from one that was.
  private func readBeforeFirstUnlock() async -> StateReading {
    guard let facts = await unlessCancelled({ [link] in await link.facts(by: .after(Self.lookLimit)) }) else {
      return Self.stopped
    }
    guard let error = facts.error else { return .denied("the phone has been unlocked since it was started") }
    return error.isBeforeFirstUnlock ? .holds("the phone waits for its first unlock") : .unreachable(error.sentence)
  }

  /// A phone that starts anew leaves the bus and comes back under another number, with no app running.
  private func readRebooted() async -> StateReading {
    guard let presence, let before = body.phone?.deviceID else { return .untold("the bus tells nothing of it") }
    guard let now = await presence(body) else { return .unreachable(PhoneError.absent(body.udid).sentence) }
    let first = firstNumber ?? before
    guard now.deviceID != first else { return .denied("the phone has not left the bus") }
    let facts = await unlessCancelled { [link] in await link.facts(by: .after(Self.lookLimit)) }
    if let error = facts?.error, !error.isBeforeFirstUnlock { return .unreachable(error.sentence) }
    return .holds("the phone has left the bus and is back")
  }

  private func readInstalled() async -> StateReading {
    guard let bundle = body.app.bundle else { return .unreadable(Self.noBundle) }
    do throws(PhoneError) {
      guard let app = try await link.app(bundle, by: .after(Self.lookLimit)) else {
        return .denied("\(bundle) is not installed")
      }
      return .holds("\(bundle) \(app.version ?? "of unknown version") is installed")
    } catch {
      return Self.reading(error)
    }
  }

  /// Whether the app's process exists.
  func isRunning() async -> Result<Bool, ReadingFailure> {
    guard let bundle = body.app.bundle else { return .failure(ReadingFailure(reading: .unreadable(Self.noBundle))) }
    do throws(PhoneError) {
      guard let app = try await link.app(bundle, by: .after(Self.lookLimit)) else { return .success(false) }
      guard let executable = app.executable else {
        return .failure(ReadingFailure(reading: .unreadable("\(bundle) names no executable")))
      }
      return .success(try await link.isRunning(executable: executable, by: .after(Self.lookLimit)))
    } catch {
      return .failure(ReadingFailure(reading: Self.reading(error)))
    }
  }

  struct ReadingFailure: Error { var reading: StateReading }

  private func readNotRunning() async -> StateReading {
    switch await isRunning() {
    case .success(false): .holds("the app does not run")
    case .success(true): .denied("the app runs")
    case .failure(let failure): failure.reading
    }
  }

  private static func reading(_ error: PhoneError) -> StateReading {
    error.isBeforeFirstUnlock ? .unreadable(error.sentence) : .unreachable(error.sentence)
  }

  static let noBundle =
    "fleet.yaml names no app. Without its bundle it cannot be looked for. Write it with: fleetctl init --app BUNDLE"
}
