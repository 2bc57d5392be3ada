import DeviceBridge
import Transport
import Wire

/// The means of a revival that are real: a phone behind a mux, this host's locks, state folder and clock.
public final class PhoneMeans: ReviveMeans {
  /// What a revival needs to know beside the body.
  public struct Settings: Sendable {
    public var mux: MuxAddress
    /// The app that is launched.
    public var bundle: String
    /// The door's, where it has one.
    public var token: Secret?
    /// What others are told while the phone is held.
    public var holder: Holder
    /// How long a phone that somebody holds is waited for.
    public var leaseWait = Duration.zero
    /// The same where it is held for another revival, which is over soon and may have brought the app back.
    public var revivalWait = Duration.seconds(60)
    /// Whether the door is asked over a connection that is kept from probe to probe.
    public var keepsDoor = false

    public init(mux: MuxAddress, bundle: String, token: Secret? = nil, holder: Holder) {
      self.mux = mux
      self.bundle = bundle
      self.token = token
      self.holder = holder
    }
  }

  private let body: Body
  private let link: (any PhoneLink)?
  private let settings: Settings
  private let locks: PhoneLocks
  private let stamps: any LaunchStamps
  private let clock: any HostClock
  private let onWait: @Sendable (Holder) -> Void
  private let lease = Guarded<PhoneLease?>(nil)

  /// - Parameters:
  ///   - link: to the body's phone; nil when it is not there to be connected to. Its owner closes it.
  ///   - onWait: told who holds the phone while it is waited for.
  public init(
    _ body: Body, over link: (any PhoneLink)?, _ settings: Settings, locks: PhoneLocks, stamps: any LaunchStamps,
    clock: any HostClock = SystemClock(), onWait: @escaping @Sendable (Holder) -> Void = { _ in }
  ) {
    self.body = body
    self.link = link
    self.settings = settings
    self.locks = locks
    self.stamps = stamps
    self.clock = clock
    self.onWait = onWait
  }

  public func finish() {
    let held = lease.with { lease in
      defer { lease = nil }
      return lease
    }
    held?.release()
  }

  public func carryOut(_ command: ReviveCommand) async throws(CancellationError) -> ReviveEvent {
    try await carryOut(command, by: .after(command.limit))
  }

  /// - Parameter deadline: for what is asked of the phone; a probe and a rest have their own time.
  public func carryOut(
    _ command: ReviveCommand, by deadline: Deadline
  ) async throws(CancellationError) -> ReviveEvent {
    switch command {
    case .probe(let within): return .door(await probe(within))
    case .takeLease: return .lease(try await takeLease())
    case .openSession: return .session(await session(by: deadline))
    case .askHands: return .hands(await hands(by: deadline))
    case .readLock:
      guard let link else { return .lock(LockReading(state: .unknown, why: "the phone is not there")) }
      return .lock(await link.lock(by: deadline))
    case .storeStamp: return .stamp(await storeStamp())
    case .launch(let fresh): return .launch(await launch(fresh: fresh, by: deadline))
    case .rest(let span):
      try await clock.sleep(for: span)
      return .rested
    }
  }

  private var absence: PhoneError {
    body.phone?.transport == .network ? .networkOnly(body.udid) : .absent(body.udid)
  }

  private func probe(_ limit: Duration) async -> DoorLook {
    guard let link else { return .unreachable(absence) }
    return DoorLook(await link.request(hello(by: clock.deadline(after: limit))))
  }

  private func hello(by deadline: Deadline) -> DoorRequest {
    let call = body.door.call(.hello)
    var request = DoorRequest(
      port: body.door.port, method: call.line.method, target: call.line.target, token: settings.token?.value,
      deadline: deadline)
    request.keepsConnection = settings.keepsDoor
    // More of a hello is not looked at.
    request.keptBody = (1 << 16) + 1
    return request
  }

  private func takeLease() async throws(CancellationError) -> LeaseLook {
    var answer: LeaseAnswer
    do throws(HostTrouble) {
      answer = try await askLock(settings.leaseWait)
      if case .held(let holder) = answer, holder.purpose == .supervise || holder.purpose == .revive {
        answer = try await askLock(settings.revivalWait)
      }
    } catch {
      return .trouble(error)
    }
    switch answer {
    case .taken(let taken, let waited):
      lease.with { $0 = taken }
      return .taken(waited: waited)
    case .held(let holder): return .held(by: holder)
    case .cancelled: throw CancellationError()
    }
  }

  private func askLock(_ wait: Duration) async throws(HostTrouble) -> LeaseAnswer {
    try await locks.acquire(
      body.udid, on: settings.mux, as: settings.holder, wait: clock.deadline(after: wait), onWait: onWait)
  }

  private func session(by deadline: Deadline) async -> PhoneError? {
    guard let link else { return absence }
    let facts = await link.facts(by: deadline)
    // A phone that opens a session and keeps one of its values to itself has a session.
    if facts.trust == .trusted, case .lockdown = facts.error { return nil }
    return facts.error
  }

  private func hands(by deadline: Deadline) async -> HandsLook {
    guard let port = body.hands.port else { return .absent }
    guard let link else { return .unreachable(absence) }
    return HandsLook(
      await link.request(
        DoorRequest(port: port, method: "GET", target: "/status", deadline: deadline)))
  }

  private func storeStamp() async -> HostTrouble? {
    let (stamp, stamps, udid) = (LaunchStamp(clock), stamps, body.udid)
    return await OnDisk.within(StepLimit.stamp) {
      do throws(HostTrouble) { try stamps.store(stamp, of: udid) } catch { return error }
      return nil
    }
  }

  private func launch(fresh: Bool, by deadline: Deadline) async -> PhoneError? {
    guard let link else { return absence }
    do throws(PhoneError) {
      var request = LaunchRequest(bundle: settings.bundle, fresh: fresh)
      // Ending the old app takes a while, in which somebody may lock the phone.
      request.unlockedOnly = true
      // An app that answers need not live a whole second first.
      if settings.keepsDoor { request.door = hello(by: deadline) }
      try await link.launch(request, by: deadline)
      return nil
    } catch {
      return error
    }
  }
}
