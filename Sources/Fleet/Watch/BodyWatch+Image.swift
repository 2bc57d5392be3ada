import DeviceBridge
import Wire

/// The developer image, where images.mount says auto.
extension BodyWatch {
  private func mountMark(_ facts: LaunchFacts) -> String? {
    guard let image = facts.offeredImage else { return nil }
    return "\(facts.boot ?? "?")/\(image)"
  }

  func mayMount(_ facts: LaunchFacts) -> Bool {
    guard rules.mountsImages, let mark = mountMark(facts) else { return false }
    guard facts.hasImage == false || !rules.book.keeps(.noMountOverAnImage) else { return false }
    return memory.mountTried != mark || !rules.book.keeps(.oneMountPerBootAndImage)
  }

  mutating func mounted(_ look: MountLook, _ now: WatchTime) {
    switch look {
    case .locked:
      _ = noteLock(LockReading(state: .locked, why: ""))
      endRound(.other, now)
    case .broken(let error):
      if let fault = error.fault { found(fault, error, now) } else { endRound(.other, now) }
    case .mounted:
      mountTried("mounted", now)
      memory.refusal = nil
      endRound(.other, now)
      due = now.awake
    case .failed(let detail):
      mountTried(detail, now)
      refused(.noDeveloperImage)
      memory.launchEnd = OutcomeWords(.launchRefused, .noDeveloperImage)
      judge(OutcomeWords(.launchRefused, .noDeveloperImage), detail, now)
      endRound(.withheld, now)
    }
  }

  private mutating func mountTried(_ result: String, _ now: WatchTime) {
    memory.mountTried = mountMark(facts)
    isMemoryNew = true
    out.append(.act(WatchAction(kind: .mount, at: now.wall, udid: udid, result: result)))
  }

  /// A launch refused for a fact is not tried again while the fact stands.
  mutating func refused(_ reason: OutcomeReason) {
    var facts = facts
    // The launch has looked later than the facts were read; unless it says so a second time, it is taken at its word.
    if reason == .appUntrusted, case .installed(let version, let build, true) = facts.app, distrusted != facts.build {
      distrusted = facts.build
      facts.app = .installed(version: version, build: build, validated: false)
    }
    memory.refusal = WatchMemory.Refusal(reason, facts)
    isMemoryNew = true
  }
}
