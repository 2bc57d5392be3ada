import Wire

/// What is to be stored in one transaction.
public struct LedgerEntry: Equatable, Sendable {
  public var row: OutcomeReport?
  /// The body whose memory it is.
  public var udid: UDID?
  /// Takes the place of what is stored for that body, unless that has a higher revision.
  public var memory: WatchMemory?
  public var action: WatchAction?
  /// The body's outcome, where the record is begun anew and has no row of it.
  public var standing: Standing?

  /// An outcome that stands, and since when (the wall clock).
  public struct Standing: Equatable, Sendable {
    public var words: OutcomeWords
    public var since: Duration?
  }
}

/// What waits to be stored: in order, one at a time, each with its own time, for as long as the disk will not take it.
struct Ledger: Sendable {
  private var queue: [LedgerEntry] = []
  private var isOpen = false
  private var retry: Duration?
  private var pause = Duration.seconds(1)
  private static let longestPause = Duration.seconds(10)
  /// Of the newest row that is stored.
  private(set) var lastSeq: Int
  private let book: RuleBook

  init(lastSeq: Int, _ book: RuleBook) {
    self.lastSeq = lastSeq
    self.book = book
  }

  /// Nothing waits.
  var isEmpty: Bool { queue.isEmpty }
  /// What waits, without what is being stored.
  var waiting: Int { queue.count }

  mutating func append(_ entry: LedgerEntry) {
    if entry.row == nil, entry.action == nil, let udid = entry.udid,
      let index = queue.indices.dropFirst(isOpen ? 1 : 0).last(where: { queue[$0].udid == udid }),
      queue[index].row == nil, queue[index].action == nil
    {
      queue[index].memory = entry.memory
      queue[index].standing = entry.standing ?? queue[index].standing
      return
    }
    queue.append(entry)
  }

  /// What is newer of a body than the record is.
  func newest(of udid: UDID) -> (row: OutcomeReport?, memory: WatchMemory?) {
    let entries = queue.filter { $0.udid == udid }
    return (entries.last { $0.row != nil }?.row, entries.last { $0.memory != nil }?.memory)
  }

  /// The next to be stored, where nothing is on its way and no pause is on. A row gets its number.
  mutating func next(at now: WatchTime) -> LedgerEntry? {
    guard !isOpen, !queue.isEmpty, retry.map({ now.awake >= $0 }) ?? true else { return nil }
    isOpen = true
    retry = nil
    if queue[0].row != nil { queue[0].row?.seq = lastSeq + 1 }
    return queue[0]
  }

  mutating func stored() {
    guard isOpen, let first = queue.first else { return }
    if let seq = first.row?.seq { lastSeq = seq }
    queue.removeFirst()
    isOpen = false
    pause = .seconds(1)
  }

  mutating func notStored(at now: WatchTime) {
    guard isOpen else { return }
    isOpen = false
    if !book.keeps(.rowsAreKept) { queue.removeFirst() }
    retry = now.awake + pause
    pause = min(pause * 2, Self.longestPause)
  }

  /// The record begins anew, with numbers of its own; what was on its way did not arrive.
  mutating func beginAnew(after seq: Int) {
    lastSeq = seq
    isOpen = false
    retry = nil
  }

  var wake: Duration? { isOpen || queue.isEmpty ? nil : retry }
}
