import Wire

/// One line of the journal.
public struct JournalEntry: Equatable, Sendable {
  /// Rising by one with each entry, from 1.
  public let seq: UInt64
  public let at: WallTime
  /// Phone time since the fleet started, in seconds.
  public let phoneSeconds: Double
  public let udid: UDID?
  /// What happened, such as `mux-connect` or `service-started`.
  public let event: String
  public let details: [String: JSON]

  /// `{at, details, event, phone_seconds, seq, udid}`; times as RFC 3339 UTC.
  public var json: JSON {
    [
      "seq": .integer(Int64(clamping: seq)), "at": .string(at.description),
      "phone_seconds": .number((phoneSeconds * 1000).rounded() / 1000),
      "udid": .text(udid?.description), "event": .string(event), "details": .object(details),
    ]
  }
}
