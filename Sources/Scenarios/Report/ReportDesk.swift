import Transport

/// Writes a run's reports as the run goes, on a thread of its own: a slow disk holds up no phone.
public final class ReportDesk: Sendable {
  private struct State {
    var events: [RunEvent] = []
    var wake: Latch?
    var isLast = false
    /// The first trouble of each report.
    var troubles: [ReportTrouble] = []
    /// Events were dropped: the disk stood still for too long.
    var isCut = false
  }

  /// A disk that stands still must not fill the memory instead.
  private static let mostEvents = 200_000
  /// Reports that are replaced as a whole are replaced no more often than this, and take up at most a twentieth of the time.
  private static let shortestPause = Duration.seconds(1)

  private let state = Guarded(State())
  private let ended = OneShot<Bool>()
  private let told: @Sendable (ReportTrouble) -> Void
  /// The first report's, for troubles that all of them share.
  private let path: String

  /// Makes the files: what cannot be written is to be known before a phone is touched.
  ///
  /// - Parameters:
  ///   - limit: for that.
  ///   - trouble: called once for each report that can't be written any more, on the desk's thread.
  public static func open(
    _ kinds: [ReportKind], within limit: Duration = .seconds(10),
    trouble: @escaping @Sendable (ReportTrouble) -> Void = { _ in }
  ) async throws(ReportTrouble) -> ReportDesk {
    let desk = ReportDesk(kinds.first?.path ?? "", trouble)
    let opened = OneShot<ReportTrouble?>()
    _ = Worker(name: "reports", stackBytes: 1 << 20) { [state = desk.state, ended = desk.ended, told = desk.told] in
      var writer = ReportWriter(kinds)
      let trouble = writer.open()
      opened.give(trouble)
      if trouble == nil { Self.serve(&writer, state, told) }
      ended.give(true)
    }
    let late = ReportTrouble(path: desk.path, code: 0)
    if let trouble = await opened.value(within: limit, else: late) { throw trouble }
    return desk
  }

  private init(_ path: String, _ told: @escaping @Sendable (ReportTrouble) -> Void) {
    self.path = path
    self.told = told
  }

  deinit { Self.end(state) }

  /// Takes an event; never waits.
  public func take(_ event: RunEvent) {
    let wake: Latch? = state.with { state in
      if state.events.count < Self.mostEvents { state.events.append(event) } else { state.isCut = true }
      return state.wake
    }
    wake?.open()
  }

  /// Writes everything for the last time and ends the thread.
  ///
  /// - Returns: the reports that are not whole.
  public func finish(within limit: Duration = .seconds(20)) async -> [ReportTrouble] {
    Self.end(state)
    let inTime = await ended.value(within: limit, else: false)
    let (troubles, isCut) = state.with { ($0.troubles, $0.isCut) }
    return (inTime && !isCut) || !troubles.isEmpty ? troubles : [ReportTrouble(path: path, code: 0)]
  }

  private static func end(_ state: Guarded<State>) {
    let wake: Latch? = state.with { state in
      state.isLast = true
      return state.wake
    }
    wake?.open()
  }

  // MARK: - On the desk's thread

  private static func serve(
    _ writer: inout ReportWriter, _ state: Guarded<State>, _ told: @Sendable (ReportTrouble) -> Void
  ) {
    var due = Deadline.after(.zero)
    var isDirty = false
    while true {
      let latch = Latch()
      let (events, isLast) = state.with { state in
        let taken = (state.events, state.isLast)
        state.events = []
        state.wake = taken.0.isEmpty && !taken.1 ? latch : nil
        return taken
      }
      for event in events { writer.take(event) }
      isDirty = isDirty || !events.isEmpty
      if isLast || (isDirty && due.hasPassed) {
        let began = ContinuousClock.now
        writer.write(isLast: isLast)
        due = .after(max(shortestPause, (ContinuousClock.now - began) * 20))
        isDirty = false
      }
      for trouble in writer.takeTroubles() {
        state.with { $0.troubles.append(trouble) }
        told(trouble)
      }
      if isLast { return }
      if events.isEmpty { _ = latch.wait(until: isDirty ? due : .never) }
    }
  }
}

/// The reports of a run and the ledger they are written from; used on the desk's thread alone.
private struct ReportWriter {
  private let kinds: [ReportKind]
  private var reports: [any Report] = []
  private var ledger = RunLedger()
  private var troubles: [ReportTrouble] = []

  init(_ kinds: [ReportKind]) { self.kinds = kinds }

  mutating func open() -> ReportTrouble? {
    do throws(ReportTrouble) {
      for kind in kinds { reports.append(try kind.opened()) }
      for report in reports { try report.write(ledger, isLast: false) }
      return nil
    } catch {
      return error
    }
  }

  mutating func take(_ event: RunEvent) {
    let changed = ledger.take(event)
    let ledger = ledger
    each { report throws(ReportTrouble) in try report.take(event, ledger, changed: changed) }
  }

  mutating func write(isLast: Bool) {
    let ledger = ledger
    each { report throws(ReportTrouble) in try report.write(ledger, isLast: isLast) }
  }

  mutating func takeTroubles() -> [ReportTrouble] {
    defer { troubles = [] }
    return troubles
  }

  /// A report that could not be written is tried again at the next turn; its trouble counts once.
  private var failed: Set<String> = []

  private mutating func each(_ body: (any Report) throws(ReportTrouble) -> Void) {
    for report in reports {
      do throws(ReportTrouble) { try body(report) } catch {
        if failed.insert(report.path).inserted { troubles.append(error) }
      }
    }
  }
}
