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
  /// The phone or the mux could not be reached.
  case unreachable(String)

  var holds: Bool { if case .holds = self { true } else { false } }

  var text: String {
    switch self {
    case .holds(let text), .denied(let text), .unreadable(let text), .unreachable(let text): text
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

  /// Reads a state from the phone, anew.
  func read(_ state: BodyState) async -> StateReading {
    switch state {
    case .locked: await readLock(.locked)
    case .unlocked: await readLock(.unlocked)
    case .inFront: await readActive(true)
    case .inBackground: await readActive(false)
    case .cameraGranted: await readGrant()
    case .appInstalled: await readInstalled()
    case .notRunning, .suspended, .listenerDead, .cameraBusy, .cameraStuck, .cameraDenied, .rebooted,
      .beforeFirstUnlock, .tokenConfigured:
      .unreadable("this version of fleetctl does not read \(state.rawValue)")
    }
  }

  /// The lock as the phone tells it now; nil when the run was stopped meanwhile.
  func lock() async -> LockReading? {
    await unlessCancelled { [link] in await link.lock(by: .after(Self.lookLimit)) }
  }

  private func readLock(_ wanted: LockState) async -> StateReading {
    guard let reading = await lock() else { return .unreadable("the run was stopped") }
    switch reading.state {
    case .unknown: return .unreadable("the lock cannot be read: \(reading.why)")
    case .locked, .unlocked:
      let text = "the phone is \(reading.state.rawValue)"
      return reading.state == wanted ? .holds(text) : .denied(text)
    }
  }

  private func readActive(_ wanted: Bool) async -> StateReading {
    var last = StateReading.unreadable("the door was not asked")
    for row in [DoorRow.hello, .status] {
      switch await call(row)?.ending {
      case .response(let message):
        if let active = JSON(parsing: message.body)?["active"]?.boolean {
          let text = "\(row.rawValue) says active: \(active)"
          return active == wanted ? .holds(text) : .denied(text)
        }
        last = .unreadable("\(row.rawValue) answers \(message.status) and does not say whether the app is active")
      case .refused: return silent(wanted, "the door's port is closed")
      case .silent(_, let detail), .badReply(let detail): return silent(wanted, "the door gives no answer: \(detail)")
      case .unreachable(let error): return .unreachable(error.sentence)
      case nil: return .unreadable("the run was stopped")
      }
    }
    return last
  }

  /// An app whose door is silent is not seen in front; whether it is in the background, nobody can tell.
  private func silent(_ wanted: Bool, _ text: String) -> StateReading { wanted ? .denied(text) : .unreadable(text) }

  private func readGrant() async -> StateReading {
    switch await call(.status)?.ending {
    case .response(let message):
      guard let grant = JSON(parsing: message.body)?["grants"]?["camera"]?.string else {
        return .unreadable("status answers \(message.status) and names no camera grant")
      }
      let text = "status says camera: \(AnswerText.visible(String(grant.prefix(40))))"
      return grant == "authorized" ? .holds(text) : .denied(text)
    case .refused: return .unreadable("the door's port is closed")
    case .silent(_, let detail), .badReply(let detail): return .unreadable("the door gives no answer: \(detail)")
    case .unreachable(let error): return .unreachable(error.sentence)
    case nil: return .unreadable("the run was stopped")
    }
  }

  private func readInstalled() async -> StateReading {
    guard let bundle = body.app.bundle else { return .unreadable(Self.noBundle) }
    do throws(PhoneError) {
      guard let app = try await link.app(bundle, by: .after(Self.lookLimit)) else {
        return .denied("\(bundle) is not installed")
      }
      return .holds("\(bundle) \(app.version ?? "of unknown version") is installed")
    } catch {
      return error.isBeforeFirstUnlock ? .unreadable(error.sentence) : .unreachable(error.sentence)
    }
  }

  static let noBundle =
    "fleet.yaml names no app. Without its bundle it cannot be looked for. Write it with: fleetctl init --app BUNDLE"
}
