import Transport
import Wire

/// What the host did to the phones, newest `capacity` entries.
public final class Journal: Sendable {
  public static let capacity = 100_000

  private struct Ring {
    var entries: [JournalEntry] = []
    /// Where the oldest entry stands once the ring is full.
    var start = 0
    var next: UInt64 = 1
    var isOver = false
    /// Opened by the next entry, or by the journal's end.
    var waiting: [Latch] = []
  }

  private let ring = Guarded(Ring())
  private let clock: any PhoneClock

  init(clock: any PhoneClock) { self.clock = clock }

  /// - Parameter udid: nil for what concerns no phone, such as a mux request.
  public func record(_ udid: UDID?, _ event: String, _ details: [String: JSON] = [:]) {
    let at = WallTime.now()
    let phoneSeconds = clock.now.inSeconds
    let waiting = ring.with {
      let entry = JournalEntry(
        seq: $0.next, at: at, phoneSeconds: phoneSeconds, udid: udid, event: event, details: details)
      $0.next += 1
      if $0.entries.count < Self.capacity {
        $0.entries.append(entry)
      } else {
        $0.entries[$0.start] = entry
        $0.start = ($0.start + 1) % Self.capacity
      }
      let waiting = $0.waiting
      $0.waiting = []
      return waiting
    }
    for latch in waiting { latch.open() }
  }

  /// Oldest first.
  ///
  /// - Parameter seq: only what came after this number.
  public func entries(after seq: UInt64 = 0) -> [JournalEntry] {
    ring.with { ring in
      // Numbers rise by one, so the place of the first wanted entry follows from its number.
      let oldest = ring.next - UInt64(ring.entries.count)
      let skipped = seq < oldest ? 0 : Int(min(seq - oldest + 1, UInt64(ring.entries.count)))
      return (skipped..<ring.entries.count).map { ring.entries[(ring.start + $0) % ring.entries.count] }
    }
  }

  /// Waits for something newer than that number.
  ///
  /// - Returns: false once the journal is over: nothing will come any more.
  public func wait(after seq: UInt64, until deadline: Deadline) -> Bool {
    let latch = Latch()
    let (isOver, isThere) = ring.with {
      let isThere = $0.next > seq + 1
      if !$0.isOver, !isThere { $0.waiting.append(latch) }
      return ($0.isOver, isThere)
    }
    if isOver || isThere { return !isOver }
    if !latch.wait(until: deadline) { ring.with { $0.waiting.removeAll { $0 === latch } } }
    return ring.with { !$0.isOver }
  }

  /// Lets go of all who wait.
  func end() {
    let waiting = ring.with {
      $0.isOver = true
      let waiting = $0.waiting
      $0.waiting = []
      return waiting
    }
    for latch in waiting { latch.open() }
  }
}
