import Fleet

extension Arranger {
  /// How long a phone that is away is waited for with its undo, on the scenario's clock.
  private static let undoLimit = Duration.seconds(60)
  /// How long it may take to show what a means claims.
  private static let readBackLimit = Duration.seconds(20)
  /// The same of a capture that ends by itself.
  private static let patience = Duration.seconds(90)

  /// Takes an arrangement back: more than once, and for as long as a phone that is away may come back.
  ///
  /// - Returns: why it may still stand; nil when it is gone.
  func undo(_ arrangement: Arrangement) async -> String? {
    let back = arrangement.back
    let end = scene.clock.now + Self.undoLimit
    var why = "it has no means"
    var tries = 0
    var pause = Duration.milliseconds(500)
    while true {
      var isAway = false
      // A stopped process would only be waited for.
      if tries > 0 || arrangement.state != .suspended {
        let reading = await scene.read(back)
        if reading.holds { return nil }
        isAway = reading.mayChange
      }
      if tries == 0 || !isAway {
        // A person is asked once.
        guard let trouble = await takeBack(arrangement, asking: tries == 0) else { return nil }
        tries += 1
        if !trouble.why.isEmpty { why = trouble.why }
        isAway = trouble.isAway
      }
      guard scene.clock.now < end, isAway || tries < 2 else { break }
      do { try await scene.clock.sleep(for: pause) } catch { break }
      pause = min(pause * 2, .seconds(4))
    }
    // What broke off may have been done all the same.
    if await scene.read(back).holds { return nil }
    return "\(scene.body.title) is not back to \(back.text): \(why)"
  }

  /// - Returns: nil when it is taken back; otherwise what stood in the way, and whether that may pass by itself.
  private func takeBack(_ arrangement: Arrangement, asking: Bool) async -> (why: String, isAway: Bool)? {
    var problems: [String] = []
    var isAway = false
    for means in scene.means(toUndo: arrangement) where asking || !means.isAttendant {
      switch await scene.use(means) {
      case .claimed:
        let reading = await readBack(arrangement.back, within: means == .patience ? Self.patience : Self.readBackLimit)
        switch reading {
        // An app that was brought in front and keeps its door shut is for `recovers` to find.
        case .holds, .untold, .mute: return nil
        case .denied, .unreadable, .unreachable: break
        }
        isAway = isAway || reading.mayChange
        problems.append("\(means.text) is done, but \(reading.text)")
      case .lost(let sentence):
        isAway = true
        problems.append(sentence)
      case .refused(let sentence), .broken(let sentence): problems.append(sentence)
      }
    }
    return (problems.joined(separator: "; "), isAway)
  }
}

extension StateReading {
  /// Nothing is known now, and may be once the phone or the daemon is back.
  fileprivate var mayChange: Bool {
    switch self {
    case .unreachable, .unreadable: true
    case .holds, .denied, .mute, .untold: false
    }
  }
}
