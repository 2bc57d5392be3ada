import Transport
import Wire

/// The lane of one phone: its sessions and services, one call after another on a thread of its own.
///
/// A hung phone holds this thread and no other; each call ends by its deadline all the same, also one that waits
/// behind a hung one. The thread starts with the first call and ends with `close` or with the lane.
public final class PhoneLane: PhoneLink {
  public let udid: UDID
  let route: PhoneRoute
  private let context: LaneContext
  private let thread: LaneThread
  let calls = LaneCalls()
  private let kept = KeptConnections()
  /// For requests that come again and again: making a thread for each would cost more than they do.
  private static let doorCrew = Crew(name: "door", spare: 64, patience: .seconds(15))

  /// - Parameters:
  ///   - phone: as `Mux.list` gave it; the lane finds it again under its next number after replugging.
  ///   - tunnelIdle: how long the phone's tunnel stays open when nothing is asked over it.
  public init(_ phone: ListedPhone, mux: MuxAddress, tunnelIdle: Duration = .seconds(60)) {
    udid = phone.udid
    route = PhoneRoute(phone.udid, mux: Mux(address: mux))
    context = LaneContext(route, tunnelIdle: tunnelIdle)
    thread = LaneThread(name: "lane \(phone.udid.tail)", context)
  }

  deinit { close() }

  public func close() {
    thread.stop()
    calls.close()
    kept.close()
  }

  /// Ends the session that is kept from call to call, once the calls under way are over: nothing more is asked for now.
  public func rest() { _ = thread.submit { $0.dropSession() } }

  /// The phone has left the bus: kept connections to its door are of no use any more.
  public func forgetConnections() { kept.drop() }

  // MARK: - On the lane's thread

  public func facts(by deadline: Deadline) async -> PhoneFacts {
    switch await onLane("a visit", by: deadline, { .success($0.facts()) }) {
    case .success(let facts): return facts
    case .failure(let error):
      var facts = PhoneFacts()
      facts.error = error
      facts.lock = PhoneWork.lock(without: error)
      return facts
    }
  }

  public func lock(by deadline: Deadline) async -> LockReading {
    switch await onLane("reading its lock", by: deadline, { .success($0.lock()) }) {
    case .success(let reading): reading
    case .failure(let error): PhoneWork.lock(without: error)
    }
  }

  public func app(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> InstalledApp? {
    try await call("looking up \(bundle)", by: deadline) { work throws(PhoneError) in try work.app(bundle) }
  }

  public func isRunning(executable: String, by deadline: Deadline) async throws(PhoneError) -> Bool {
    try await call("listing processes", by: deadline) { work throws(PhoneError) in
      try !work.processes(of: executable).isEmpty
    }
  }

  public func launch(_ request: LaunchRequest, by deadline: Deadline) async throws(PhoneError) {
    try await call("launching \(request.bundle)", by: deadline) { work throws(PhoneError) in
      try work.launch(request)
    }
  }

  /// A call that waits its turn on the lane's thread.
  func call<T: Sendable>(
    _ step: String, by deadline: Deadline, _ body: @escaping @Sendable (PhoneWork) throws(PhoneError) -> T
  ) async throws(PhoneError) -> T {
    try await onLane(step, by: deadline) { work in
      do throws(PhoneError) { return .success(try body(work)) } catch { return .failure(work.explained(error)) }
    }.get()
  }

  private func onLane<T: Sendable>(
    _ step: String, by deadline: Deadline, _ body: @escaping @Sendable (PhoneWork) -> Result<T, PhoneError>
  ) async -> Result<T, PhoneError> {
    let turn = Guarded(LaneTurn.waiting)
    let (udid, context, thread) = (udid, context, thread)
    return await calls.result(of: udid, step, by: deadline) { shot in
      let taken = thread.submit { work in
        let begun = turn.with { turn in
          // Its time was up while it waited for the call before it.
          if case .over = turn { return false }
          turn = .running(context.begin(by: deadline))
          return true
        }
        if !begun || shot.isGiven { return }
        shot.give(body(work))
        turn.with { $0 = .over }
      }
      if !taken { shot.give(.failure(.ended(udid))) }
    } end: { reason in
      turn.with { turn in
        if case .running(let number) = turn { context.cut(number, reason) }
        turn = .over
      }
    }
  }

  // MARK: - Beside it

  public func connect(port: UInt16, by deadline: Deadline) async throws(PhoneError) -> any ByteStream {
    let leash = Leash()
    let (udid, route) = (udid, route)
    let socket: Result<Socket, PhoneError> = await calls.result(
      of: udid, "connecting to its port \(port)", by: deadline
    ) { shot in
      _ = Worker(name: "phone port") {
        do throws(PhoneError) {
          let socket = try route.connect(port: port, by: deadline, leash)
          leash.letGo()
          // Nobody waits any more: nobody else would close it.
          if !shot.give(.success(socket)) { socket.close() }
        } catch {
          shot.give(.failure(error))
        }
      }
    } end: { reason in
      // At its deadline it ends by itself, and knows how much had come.
      if reason == .ended(udid) { leash.cut() }
    }
    return try socket.get()
  }

  public func request(_ request: DoorRequest) async -> DoorAnswer {
    let leash = Leash()
    let udid = udid
    let start = ContinuousClock.now
    let client = DoorClient(route, leash, kept)
    let answer: Result<DoorAnswer, PhoneError> = await calls.result(
      of: udid, "answering \(request.method) \(request.target)", by: request.deadline
    ) { shot in
      let exchange: @Sendable () -> Void = {
        // Measured here: whoever waits for the answer may be late to take it.
        let start = ContinuousClock.now
        let ending = client.ending(of: request)
        shot.give(.success(DoorAnswer(ending: ending, took: ContinuousClock.now - start)))
      }
      if request.keepsConnection { Self.doorCrew.run(exchange) } else { _ = Worker(name: "door", exchange) }
    } end: { reason in
      // At its deadline it ends by itself, and knows how much had come.
      if reason == .ended(udid) { leash.cut() }
    }
    switch answer {
    case .success(let answer): return answer
    case .failure(.silent):
      let took = ContinuousClock.now - start
      return DoorAnswer(ending: .silent(received: 0, detail: "nothing came in time"), took: took)
    case .failure(let error): return DoorAnswer(ending: .unreachable(error), took: ContinuousClock.now - start)
    }
  }
}

/// Where a call stands that waits for the lane's thread.
private enum LaneTurn {
  case waiting
  /// The number is the context's for it.
  case running(UInt64)
  case over
}
