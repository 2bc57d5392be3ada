import Transport
import Wire

/// One capture as it was asked for.
struct CaptureOrder: Sendable {
  enum Kind: Equatable, Sendable {
    case still
    case clip(seconds: Double)
  }

  static let longestClip = 60.0
  /// A still waits so long for its place.
  static let fix = Duration.seconds(3)

  let kind: Kind
  let camera: String
  /// Who asks, where the request names one.
  let by: String?

  init(_ kind: Kind, _ query: [String: String]) {
    self.kind = kind
    camera = query["camera"] ?? ""
    by = query["by"].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// What is wrong with the request itself.
  var fault: String? {
    if camera.isEmpty { return "the request names no camera; add camera=front or camera=back" }
    if case .clip(let seconds) = kind, !Self.isLength(seconds) {
      return "a clip needs its length; add seconds=1, up to seconds=\(Int(Self.longestClip))"
    }
    return nil
  }

  /// False also for what is no number.
  private static func isLength(_ seconds: Double) -> Bool { seconds > 0 && seconds <= longestClip }

  /// How long the camera takes, in phone time: for a clip its length and 0.8 s to settle.
  var span: Duration {
    switch kind {
    case .still: .milliseconds(600)
    case .clip(let seconds): .seconds(Self.isLength(seconds) ? seconds : 0) + .milliseconds(800)
    }
  }

  /// The body's clock: it gives up first and says what it waited for.
  var limit: Duration {
    switch kind {
    case .still: .seconds(10)
    case .clip: span + .seconds(10)
    }
  }

  /// What it waits for, behind "waiting for".
  var awaited: String {
    switch kind {
    case .still: "the camera to deliver the photo"
    case .clip: "the camera to end the clip"
    }
  }
}

/// Photos and clips: the refusals in their order, the claim, and the body's clock.
extension KioskApp {
  /// - Returns: nil when the process ended meanwhile: nobody is left to answer.
  func capture(_ order: CaptureOrder, by process: AppProcess) -> DoorReply? {
    // An app without a clock of its own waits as long as anybody cares to.
    let limit = model.with { $0.door.broken.contains(.noOwnClock) } ? Duration.seconds(86_400) : order.limit
    let deadline = surroundings.clock.now + limit
    if let refusal = refusalBeforeClaim(order) { return refusal }
    switch claim(order, until: deadline, by: process) {
    case .refused(let status, let sentence): return refusal(status, sentence)
    case .processEnded: return nil
    case .granted(let claim):
      defer { finish(claim) }
      logCapture(order, "begins", by: process)
      let outcome = take(order, claim, until: deadline, by: process)
      guard process.end == nil else { return nil }
      logCapture(order, "ended: \(outcome.rawValue)", by: process)
      switch outcome {
      case .taken: return picture(order)
      case .interrupted: return refusal(503, "the \(order.camera) camera was taken away while it was capturing")
      case .outOfTime: return refusal(504, Self.lateSentence(order.limit, order.awaited))
      }
    }
  }

  private func refusalBeforeClaim(_ order: CaptureOrder) -> DoorReply? {
    let (grant, broken) = model.with { ($0.camera.grant("camera"), $0.door.broken) }
    if !isActive, !broken.contains(.capturesInBackground) {
      return refusal(409, "the app is not in front, and iOS gives the camera only to the app in front")
    }
    if grant != .authorized, !broken.contains(.capturesWithoutGrant) {
      return refusal(403, "the camera grant is \(grant.rawValue); a person has to allow it once in Settings")
    }
    return order.fault.map { refusal(400, $0) }
  }

  private func refusal(_ status: Int, _ sentence: String) -> DoorReply {
    let isBroken = model.with { $0.door.broken.contains(.wrongSentence) }
    return .refusal(status, isBroken ? "something went wrong" : sentence)
  }

  private static func lateSentence(_ limit: Duration, _ awaited: String) -> String {
    let seconds = (limit.inSeconds * 10).rounded() / 10
    let text = seconds == seconds.rounded() ? "\(Int(seconds))" : "\(seconds)"
    return "gave up after \(text) s waiting for \(awaited)"
  }

  // MARK: The claim

  private enum ClaimOutcome {
    case granted(Claim)
    case refused(Int, String)
    case processEnded
  }

  private func claim(_ order: CaptureOrder, until deadline: Duration, by process: AppProcess) -> ClaimOutcome {
    let claim = Claim(camera: order.camera, by: order.by)
    while process.end == nil {
      let (outcome, holder) = model.with { model -> (ClaimOutcome, Claim?) in
        if let holder = model.camera.claim {
          let waits = model.door.broken.contains(.busyWaits)
          if model.door.broken.contains(.refusalDropsBand) { model.camera.band = nil }
          return (.refused(423, "the camera is busy with another capture"), waits ? holder : nil)
        }
        guard CameraState.names.contains(order.camera) || model.door.broken.contains(.anyCamera) else {
          return (.refused(503, "there is no camera named \(order.camera); this phone has front and back"), nil)
        }
        if model.camera.fault == .shut { return (.refused(503, "the \(order.camera) camera would not open"), nil) }
        model.camera.claim = claim
        return (.granted(claim), nil)
      }
      // Only a broken app waits for the other capture's end.
      guard let holder else { return outcome }
      if surroundings.clock.wait(until: deadline, unless: holder.freed) {
        return .refused(504, Self.lateSentence(order.limit, "the other capture to end"))
      }
    }
    return .processEnded
  }

  func giveBack(_ claim: Claim?, in model: inout AppModel) {
    guard let claim else { return }
    if model.camera.claim === claim { model.camera.claim = nil }
    claim.freed.open()
  }

  private func finish(_ claim: Claim) {
    model.with { model in
      // A newer process has its own band and claim.
      guard model.camera.claim === claim else { return }
      claim.captureEnded()
      if !model.door.broken.contains(.bandStays) { model.camera.band = nil }
      if !model.door.broken.contains(.staysBusy) { giveBack(claim, in: &model) }
    }
  }

  // MARK: The camera

  private enum Outcome: String {
    case taken
    case interrupted
    case outOfTime = "out of time"
  }

  private func take(
    _ order: CaptureOrder, _ claim: Claim, until deadline: Duration, by process: AppProcess
  ) -> Outcome {
    if order.kind == .still, !place.isKnown, place.isAllowed, !wait(CaptureOrder.fix, claim) { return .interrupted }
    let file = "tmp/clip-\(Self.clipName(surroundings.clock.now)).mov"
    model.with {
      if $0.camera.claim === claim, !$0.door.broken.contains(.noBand) {
        $0.camera.band = Band(camera: claim.camera, by: claim.by)
      }
      if order.kind != .still { writeClip(file, seconds: 0, in: $0) }
    }
    var outcome = wait(order.span, claim) ? Outcome.taken : .interrupted
    if outcome == .taken, model.with({ $0.camera.fault == .stuck }) {
      outcome = surroundings.clock.wait(until: deadline, unless: claim.interrupted) ? .outOfTime : .interrupted
    }
    model.with {
      guard case .clip(let seconds) = order.kind else { return }
      // Known gap: a camera that never calls back never says that its file is done with. A dead app removes nothing.
      let stays = outcome == .outOfTime || process.end != nil || $0.door.broken.contains(.keepsFiles)
      if !stays { return removeClip(file, in: $0) }
      // A new process may have removed already what the dead one left.
      if process.end == nil || hasClip(file, in: $0) { writeClip(file, seconds: seconds, in: $0) }
    }
    return outcome
  }

  /// - Returns: false when the capture was interrupted.
  private func wait(_ time: Duration, _ claim: Claim) -> Bool {
    surroundings.clock.wait(until: surroundings.clock.now + time, unless: claim.interrupted)
  }

  private var place: (isKnown: Bool, isAllowed: Bool, itself: Place) {
    model.with { ($0.camera.hasFix, $0.camera.grant("location") == .authorized, $0.camera.place) }
  }

  private func picture(_ order: CaptureOrder) -> DoorReply {
    switch order.kind {
    case .still:
      let place = place
      let picture = JPEGPicture(
        camera: order.camera, model: surroundings.model, place: place.isKnown && place.isAllowed ? place.itself : nil)
      return DoorReply(status: 200, type: "image/jpeg", body: picture.bytes)
    case .clip(let seconds):
      return DoorReply(
        status: 200, type: "video/quicktime", body: QuickTimeClip(seconds: seconds, camera: order.camera).bytes)
    }
  }
}
