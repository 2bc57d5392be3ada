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
  }

  private let ring = Guarded(Ring())
  private let clock: any PhoneClock

  init(clock: any PhoneClock) { self.clock = clock }

  /// - Parameter udid: nil for what concerns no phone, such as a mux request.
  public func record(_ udid: UDID?, _ event: String, _ details: [String: JSON] = [:]) {
    let at = WallTime.now()
    let phoneSeconds = clock.now.seconds
    ring.with {
      let entry = JournalEntry(
        seq: $0.next, at: at, phoneSeconds: phoneSeconds, udid: udid, event: event, details: details)
      $0.next += 1
      if $0.entries.count < Self.capacity {
        $0.entries.append(entry)
      } else {
        $0.entries[$0.start] = entry
        $0.start = ($0.start + 1) % Self.capacity
      }
    }
  }

  /// Oldest first.
  ///
  /// - Parameter seq: only what came after this number.
  public func entries(after seq: UInt64 = 0) -> [JournalEntry] {
    ring.with { Array(($0.entries[$0.start...] + $0.entries[..<$0.start]).drop { $0.seq <= seq }) }
  }
}
