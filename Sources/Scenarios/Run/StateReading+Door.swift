import DeviceBridge
import Fleet
import Wire

/// States that the app's door shows.
extension Scene {
  /// How long a door that may be mute is listened to, on the scenario's clock.
  private static let muteLimit = Duration.seconds(3)

  func readActive(_ wanted: Bool) async -> StateReading {
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
  private func silent(_ wanted: Bool, _ text: String) -> StateReading { wanted ? .mute(text) : .unreadable(text) }

  /// A door that is silent in one way, of an app that runs.
  func readSilence(_ isIt: (DoorAnswer.Ending) -> String?) async -> StateReading {
    guard let ending = await call(.hello, longest: Self.muteLimit)?.ending else {
      return .unreadable("the run was stopped")
    }
    if case .unreachable(let error) = ending { return .unreachable(error.sentence) }
    guard let text = isIt(ending) else { return .denied("the door: \(AnswerText.of(ending))") }
    switch await isRunning() {
    case .success(true): return .holds("\(text), and the app runs")
    case .success(false): return .denied("\(text), but the app does not run")
    case .failure(let failure): return failure.reading
    }
  }

  static func isMute(_ ending: DoorAnswer.Ending) -> String? {
    if case .silent(received: 0, _) = ending { "the door accepts and never answers" } else { nil }
  }

  static func isRefused(_ ending: DoorAnswer.Ending) -> String? {
    if case .refused = ending { "the door's port is closed" } else { nil }
  }

  func readGrant(_ wanted: String) async -> StateReading {
    await readStatus { status, number in
      guard let grant = status?["grants"]?["camera"]?.string else {
        return .unreadable("status answers \(number) and names no camera grant")
      }
      let text = "status says camera: \(AnswerText.visible(String(grant.prefix(40))))"
      return grant == wanted ? .holds(text) : .denied(text)
    }
  }

  func readCapturing(_ wanted: Bool) async -> StateReading {
    await readStatus { status, number in
      guard let capturing = status?["capturing"] else {
        return .unreadable("status answers \(number) and does not say whether it is capturing")
      }
      let text = "status says capturing: \(ExpectationText.of(capturing))"
      return (capturing != .null) == wanted ? .holds(text) : .denied(text)
    }
  }

  private func readStatus(_ look: (JSON?, Int) -> StateReading) async -> StateReading {
    switch await call(.status)?.ending {
    case .response(let message): look(JSON(parsing: message.body), message.status)
    case .refused: .mute("the door's port is closed")
    case .silent(_, let detail), .badReply(let detail): .mute("the door gives no answer: \(detail)")
    case .unreachable(let error): .unreachable(error.sentence)
    case nil: .unreadable("the run was stopped")
    }
  }

  /// A token that the app was given. Whether its door asks for it is for a scenario to say.
  func readToken() -> StateReading {
    token == nil ? .denied("fleet.yaml names no token-file") : .holds("fleet.yaml names a token-file")
  }
}
