import DeviceBridge
import Transport
import Wire

/// One body's way to its phone: carries out what the watch asks, each in the phone's own lane.
final class BodyDesk: Sendable {
  /// What all desks share.
  struct Means: Sendable {
    var mux: MuxAddress
    var locks: PhoneLocks
    /// Where others see when a launch was sent, and, should that disk fail, the runtime folder.
    var stamps: any LaunchStamps
    var runtimeStamps: (any LaunchStamps)?
    var books: any SupervisorBooks
    var clock: any HostClock
    var ports: USBPorts
    var leftovers: (any LeftoverUndoing)?
    var holder: Holder
    var say: @Sendable (String) -> Void
    /// Told when the record turns out to be another one, with the number of its last row.
    var begunAnew: @Sendable (Int) -> Void
  }

  /// What holds until the configuration says otherwise.
  struct Settings: Sendable {
    var body: Body
    var token: Secret?
    /// Where images come from; nil where none is mounted unasked.
    var images: ImageFolder?
  }

  let udid: UDID
  /// Tells this desk from one that the same phone had before it was dropped and taken in anew.
  let number: Int
  let lane: PhoneLane
  private let means: Means
  private let state: Guarded<State>

  private struct State {
    var settings: Settings
    /// The newest is used; an older one may still hold the phone.
    var phone: [PhoneMeans]
    var lockWatch: LockWatch?
    var isClosed = false
    var undo = Undo.idle
  }

  private enum Undo: Equatable {
    case idle, running
    /// It did not work: once more after that (CLOCK_BOOTTIME).
    case failed(again: Duration)
  }

  init(_ settings: Settings, number: Int, _ means: Means) {
    udid = settings.body.udid
    self.number = number
    self.means = means
    let phone = settings.body.phone
    lane = PhoneLane(
      phone
        ?? ListedPhone(udid: udid, serial: udid.bare, deviceID: 0, transport: .usb, alsoNetwork: false),
      mux: means.mux)
    state = Guarded(State(settings: settings, phone: [Self.phone(settings, lane, means)]))
  }

  private static func phone(_ settings: Settings, _ lane: PhoneLane, _ means: Means) -> PhoneMeans {
    var own = PhoneMeans.Settings(
      mux: means.mux, bundle: settings.body.app.bundle ?? "", token: settings.token, holder: means.holder)
    own.revivalWait = .zero
    own.keepsDoor = true
    return PhoneMeans(
      settings.body, over: lane, own, locks: means.locks, stamps: means.stamps, clock: means.clock)
  }

  var settings: Settings { state.with { $0.settings } }

  /// The configuration says otherwise now; what is under way ends as it was begun.
  func change(_ settings: Settings) {
    let phone = Self.phone(settings, lane, means)
    state.with {
      $0.settings = settings
      $0.phone.append(phone)
    }
  }

  /// Ends everything; what is under way is not answered any more.
  func close() {
    let (watch, phones) = state.with { state in
      state.isClosed = true
      defer { (state.lockWatch, state.phone) = (nil, []) }
      return (state.lockWatch, state.phone)
    }
    watch?.stop()
    lane.close()
    for phone in phones { phone.finish() }
  }

  // MARK: - Commands

  /// Carries out one command that wants an answer.
  ///
  /// - Parameter answer: called once, unless the desk is closed meanwhile.
  func carryOut(_ command: BodyCommand, _ answer: @escaping @Sendable (BodyEvent) -> Void) {
    switch command {
    case .askHold: Task { answer(.hold(await askHold())) }
    case .lookAtPort(let port, _): answer(.port(showsPhone: means.ports.shows(udid, at: port)))
    case .letGo: letGo()
    case .step(let step, let limit):
      guard let phone = state.with({ $0.phone.last }) else { return }
      let deadline = means.clock.deadline(after: limit)
      Task {
        // Cancelled only by closing the desk, and nobody waits for an answer then.
        if let event = try? await phone.carryOut(step.shortened(to: limit), by: deadline) { answer(.step(event)) }
      }
    case .storeStamp(let stamp, let memory, let limit):
      Task { answer(.step(.stamp(await store(stamp, memory, within: limit / means.clock.scale)))) }
    case .readFacts(let limit):
      let deadline = means.clock.deadline(after: limit)
      Task { answer(.facts(await facts(by: deadline))) }
    case .mountImage(let limit):
      let deadline = means.clock.deadline(after: limit)
      Task { answer(.mounted(await mount(by: deadline))) }
    case .row, .remember, .tellHost, .act: break
    }
  }

  private func letGo() {
    let phones = state.with { state in
      defer { state.phone = Array(state.phone.suffix(1)) }
      return state.phone
    }
    for phone in phones { phone.finish() }
  }

  // MARK: - Who holds the phone

  private func askHold() async -> HoldLook {
    // One of our own stands for what a killed run left, and is being undone. What keeps the lock from being looked at is
    // met again, and told, when it is to be taken.
    if let holder = await means.locks.holder(of: udid, on: means.mux) { return .held(by: holder) }
    return undoLeftovers() ? .held(by: means.holder) : .free
  }

  /// Begins to take back what a killed run has left, where there is something.
  ///
  /// - Returns: whether the phone is not free because of it.
  private func undoLeftovers() -> Bool {
    guard let leftovers = means.leftovers, leftovers.hasLeftovers(of: udid) else { return false }
    let now = means.clock.now.elapsed
    let settings: Settings? = state.with { state in
      switch state.undo {
      case .running: return nil
      case .failed(let again) where now < again: return nil
      case .idle, .failed: break
      }
      state.undo = .running
      return state.settings
    }
    guard let settings else { return state.with { $0.undo == .running } }
    Task {
      let why = await undo(leftovers, settings)
      if let why { means.say("What a killed run left on \(settings.body.title) could not be undone: \(why)") }
      let again = means.clock.now.elapsed + settings.body.supervise.spacing
      state.with { $0.undo = why == nil ? .idle : .failed(again: again) }
    }
    return true
  }

  /// - Returns: what stands in the way; nil when nothing is left, or somebody else has the phone.
  private func undo(_ leftovers: any LeftoverUndoing, _ settings: Settings) async -> String? {
    let answer: LeaseAnswer
    do throws(HostTrouble) {
      answer = try await means.locks.acquire(udid, on: means.mux, as: means.holder, wait: .after(.zero))
    } catch { return error.sentence }
    guard case .taken(let lease, _) = answer else { return nil }
    defer { lease.release() }
    return await leftovers.undo(settings.body, over: lane, notice: means.say)
  }

  // MARK: - Stamps

  /// In the state folder, where others look, and in the record; one of them is enough, and the runtime folder is where
  /// neither takes it.
  private func store(_ stamp: LaunchStamp, _ memory: WatchMemory, within limit: Duration) async -> HostTrouble? {
    let (books, udid, begunAnew) = (means.books, udid, means.begunAnew)
    let recorded = OneShot<HostTrouble?>()
    Task {
      do throws(RecordTrouble) {
        do throws(RecordTrouble) {
          try await books.storeStamp(stamp, memory: memory, of: udid, within: limit)
        } catch .begunAnew(_, let last) {
          // The new record is told of it as well.
          begunAnew(last)
          try await books.storeStamp(stamp, memory: memory, of: udid, within: limit)
        }
        recorded.give(nil)
      } catch { recorded.give(.record(error)) }
    }
    let trouble = await Self.onDisk(stamp, in: means.stamps, of: udid, within: limit)
    // Where the stamp is safe already, a record that is busy is not waited for long: the lock's reading grows old.
    let patience = trouble == nil ? min(limit, .milliseconds(500)) : limit
    let inRecord = await recorded.value(within: patience, else: .slowDisk(limit: patience))
    guard let trouble, inRecord != nil else { return nil }
    guard let runtime = means.runtimeStamps else { return trouble }
    return await Self.onDisk(stamp, in: runtime, of: udid, within: limit)
  }

  private static func onDisk(
    _ stamp: LaunchStamp, in stamps: any LaunchStamps, of udid: UDID, within limit: Duration
  ) async -> HostTrouble? {
    await OnDisk.within(limit) {
      do throws(HostTrouble) { try stamps.store(stamp, of: udid) } catch { return error }
      return nil
    }
  }

  /// The newest stamp that anybody has stored; read on the calling thread.
  static func lastStamp(of udid: UDID, _ means: Means) -> LaunchStamp? {
    let found = [means.stamps, means.runtimeStamps].compactMap { try? $0?.last(of: udid) }
    return found.max { $0.wall < $1.wall }
  }

  // MARK: - Facts and images

  private func facts(by deadline: Deadline) async -> LaunchFacts {
    let settings = settings
    let found = await lane.launchConditions(
      settings.body.app.bundle ?? "", images: settings.images, by: deadline)
    var facts = LaunchFacts()
    facts.ios = found.ios
    facts.hasImage = found.hasImage
    facts.developerMode = found.developerMode
    facts.boot = found.boot
    facts.offeredImage = found.offeredImage
    facts.app = found.app.map { app in
      app.map {
        .installed(version: $0.version, build: $0.build, validated: $0.info["ProfileValidated"]?.boolean)
      } ?? .missing
    }
    facts.stamp = Self.lastStamp(of: udid, means)
    return facts
  }

  private func mount(by deadline: Deadline) async -> MountLook {
    guard let folder = settings.images else { return .failed(detail: "no folder of images is configured") }
    // The developer image is nobody's business while the phone asks for its passcode.
    guard await lane.lock(by: deadline).state == .unlocked else { return .locked }
    do throws(PhoneError) {
      let outcome = try await lane.mount(from: folder, near: false, by: deadline) { _ in }
      switch outcome {
      case .mounted, .alreadyMounted: return .mounted
      case .refused(.locked, _): return .locked
      case .noImage, .refused: return .failed(detail: outcome.sentence(udid))
      }
    } catch {
      return .broken(error)
    }
  }

  // MARK: - The lock

  /// Listens to the phone's own word on its lock; asked again, it listens at once if it was pausing.
  ///
  /// - Parameter heard: given each reading, and the phone's name where that was read with it.
  func watchLock(_ heard: @escaping @Sendable (LockReading, _ deviceName: String?) -> Void) {
    let (watch, isNew): (LockWatch?, Bool) = state.with { state in
      guard !state.isClosed else { return (nil, false) }
      if let watch = state.lockWatch { return (watch, false) }
      let watch = self.lane.lockChanges()
      state.lockWatch = watch
      return (watch, true)
    }
    guard let watch else { return }
    guard isNew else {
      watch.retry()
      return
    }
    let lane = lane
    Task {
      var name: String?
      for await _ in watch.hints {
        if name == nil {
          let facts = await lane.facts(by: .after(StepLimit.session))
          name = facts.deviceName
          heard(facts.lock, name)
        } else {
          heard(await lane.lock(by: .after(StepLimit.lock)), name)
        }
        // Five hundred phones that are well need no session each.
        lane.rest()
      }
    }
  }
}

extension ReviveCommand {
  /// The same, with no more time for the door than there is.
  fileprivate func shortened(to limit: Duration) -> ReviveCommand {
    switch self {
    case .probe(let within): .probe(within: min(within, limit))
    case .takeLease, .openSession, .askHands, .readLock, .storeStamp, .launch, .rest: self
    }
  }
}
