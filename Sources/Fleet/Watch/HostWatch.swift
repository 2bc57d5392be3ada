import DeviceBridge
import Wire

/// The watch of the host: one outcome for whatever keeps it from its phones, however many of them find it out.
public struct HostWatch: Sendable {
  public private(set) var outcome: OutcomeWords
  public private(set) var since: Duration?
  public private(set) var detail: String?
  /// The daemon is not heard.
  public private(set) var isMuxLost = false

  private let rules: WatchRules
  private var mux: Report?
  /// Told by bodies, by the ledger, or left over from the record; each is over when nobody has met it for a while.
  private var reports: [Report] = []
  private var isRecordFailing = false
  private var hubs = Hubs()
  /// When it is to be looked next whether a hub has left.
  private var hubLook: Duration?

  private struct Report: Equatable, Sendable {
    var words: OutcomeWords
    var detail: String
    /// When it was met last, or the mux came back.
    var last: Duration
  }

  /// - Parameter past: the latest host row's words; nil where there is none, which is as good as up.
  init(_ rules: WatchRules, past: OutcomeWords?, at now: WatchTime) {
    self.rules = rules
    outcome = past ?? OutcomeWords(.up)
    if outcome.kind != .up { reports = [Report(words: outcome, detail: "as before the start", last: now.awake)] }
  }

  /// So long a trouble is not over after it was met last, and the daemon not back after it returned.
  private var patience: Duration { max(rules.every * 3, rules.settle) }

  // MARK: - The daemon

  mutating func muxLost(_ error: PhoneError, at now: WatchTime) -> Set<UDID> {
    let words = OutcomeWords(error) ?? OutcomeWords(.unreachable, .muxNotAnswering)
    mux = Report(words: words, detail: error.sentence, last: now.awake)
    isMuxLost = true
    return hubs.forgetAll()
  }

  mutating func muxConnected(at now: WatchTime) {
    isMuxLost = false
    mux?.last = now.awake
  }

  // MARK: - What is told

  mutating func told(_ sign: HostSign, at now: WatchTime) {
    if let index = reports.firstIndex(where: { $0.words == sign.words }) {
      (reports[index].last, reports[index].detail) = (now.awake, sign.detail)
    } else {
      reports.append(Report(words: sign.words, detail: sign.detail, last: now.awake))
    }
  }

  mutating func recordFailed(_ trouble: HostTrouble, at now: WatchTime) {
    isRecordFailing = true
    told(HostSign(words: trouble.words, detail: trouble.sentence), at: now)
  }

  mutating func recordWorks() { isRecordFailing = false }

  // MARK: - Hubs

  mutating func attached(_ udid: UDID, port: String?) -> Set<UDID> { hubs.attached(udid, port: port) }

  mutating func detached(_ udid: UDID, at now: WatchTime) {
    hubs.detached(udid, at: now.awake)
    hubLook = hubs.next(after: now.awake, settle: rules.settle)
  }

  /// It is missed by itself, or no body any more.
  mutating func forget(_ udid: UDID) { hubs.forget(udid) }

  mutating func missHub(at now: WatchTime) -> Set<UDID> {
    defer { hubLook = hubs.next(after: now.awake, settle: rules.settle) }
    guard rules.book.keeps(.hubIsOneRow), !isMuxLost else { return [] }
    return hubs.miss(at: now.awake, settle: rules.settle)
  }

  // MARK: - The outcome

  /// What is the matter now; the worst first, since the others may come of it.
  private func present(_ now: WatchTime) -> (OutcomeWords, String) {
    if isMuxLost, let mux { return (mux.words, mux.detail) }
    // The all-clear waits until the daemon has stayed, so that one that comes and goes is one row.
    if let mux, now.awake - mux.last < rules.settle { return (mux.words, mux.detail) }
    let order: [OutcomeReason] = [.noUsbmuxd, .muxNotAnswering, .descriptors, .permission, .disk]
    for reason in order {
      if let report = reports.first(where: { $0.words.reason == reason }) { return (report.words, report.detail) }
    }
    if let hub = hubs.lost.keys.min() {
      let names = hubs.lost.keys.sorted().joined(separator: ", ")
      let count = hubs.lost[hub]?.count ?? 0
      return (OutcomeWords(.unreachable, .hub), "all \(count) phones of hub \(names) left at once: its power or cable")
    }
    if let left = reports.first { return (left.words, left.detail) }
    return (OutcomeWords(.up), "the host is well again")
  }

  /// What time alone ends.
  ///
  /// - Returns: the row of a change.
  mutating func pass(to now: WatchTime) -> OutcomeReport? {
    if let last = mux?.last, !isMuxLost, now.awake - last >= rules.settle { mux = nil }
    let (patience, isRecordFailing) = (patience, isRecordFailing)
    reports.removeAll { now.awake - $0.last >= patience && !(isRecordFailing && $0.words.reason == .disk) }
    let (words, detail) = present(now)
    guard words != outcome else { return nil }
    let row = OutcomeReport(at: now.wall, body: nil, udid: nil, words: words, was: outcome, detail: detail)
    (outcome, since, self.detail) = (words, now.wall, detail)
    return row
  }

  /// When `pass` may next find a change.
  var wake: Duration? {
    let mux = isMuxLost ? nil : self.mux.map { $0.last + rules.settle }
    let report = reports.filter { !(isRecordFailing && $0.words.reason == .disk) }.map { $0.last + patience }.min()
    return [mux, report, hubLook].compactMap { $0 }.min()
  }
}
