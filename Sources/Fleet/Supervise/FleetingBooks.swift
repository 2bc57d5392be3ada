import Transport
import Wire

/// Books that nobody needs after this process: of a dry run, which begins with what the record knows and writes nothing.
public final class FleetingBooks: SupervisorBooks {
  private let begun: (FleetWatch.Past, [UDID: BodyPast])
  private let kept = Guarded<[OutcomeReport]>([])

  public init(past: FleetWatch.Past = FleetWatch.Past(), bodies: [UDID: BodyPast] = [:]) { begun = (past, bodies) }

  public func past() -> (FleetWatch.Past, [UDID: BodyPast]) { begun }

  public func store(_ entry: LedgerEntry, within limit: Duration) {
    if let row = entry.row { kept.with { $0.append(row) } }
  }

  public func storeStamp(_ stamp: LaunchStamp, memory: WatchMemory, of udid: UDID, within limit: Duration) {}
  public func pauses() -> [UDID: Pause] { begun.1.compactMapValues(\.pause) }
  public func dataVersion(within limit: Duration) -> Int { 0 }

  public func rows(after seq: Int, limit: Int) -> [OutcomeReport] {
    kept.with { Array($0.filter { ($0.seq ?? 0) > seq }.prefix(max(0, limit))) }
  }

  public func letGo(now: Duration, within limit: Duration) {}
  public func notices() -> [String] { [] }
}
