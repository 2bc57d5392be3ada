import DeviceBridge
import Wire

/// How one body is now: an object of `/api/bodies`, a line of `status`.
///
/// Times are of the wall clock, since 1970. What phones and people wrote is made harmless here.
public struct BodyPresent: Equatable, Sendable {
  /// fleet.yaml's name.
  public var body: String?
  public var udid: UDID
  /// The phone's own name; nil where it has not been read.
  public var deviceName: String?
  /// nil before the first judgement.
  public var words: OutcomeWords?
  /// Of the latest row.
  public var detail: String?
  /// When the outcome became so.
  public var since: Duration?
  public var lock = LockState.unknown
  public var lastAnswer: Duration?
  /// Observed silence; nil while the door answers.
  public var silent: Duration?
  /// A clause: `the end of the grace`.
  public var awaited: String
  /// The earliest moment at which a launch may be sent; nil where something else must happen first.
  public var nextLaunch: Duration?
  public var launches = 0
  public var revivals = 0
  public var flaps = 0
  public var heldBy: Holder?
  public var pausedUntil: Duration?
  /// The sysfs path of the USB port where it was seen last.
  public var usbPort: String?
  /// It is listed, and neither probed nor judged: why, and until when.
  public var outOfService: String?

  public init(body: String?, udid: UDID, awaited: String) {
    self.body = body
    self.udid = udid
    self.awaited = awaited
  }

  /// What people call it: its name, else its UDID.
  public var title: String { body ?? udid.description }

  /// Up or revived, and not out of service.
  public var isWell: Bool { outOfService == nil && words.map(\.isWell) == true }

  /// One object with all the keys; absent values are null.
  public var json: JSON {
    [
      "body": .text(body?.oneLine()), "udid": .string(udid.description.oneLine()),
      "device_name": .text(deviceName?.oneLine()), "outcome": .text(words?.kind.rawValue),
      "reason": .text(words?.reason?.rawValue), "detail": .text(detail?.oneLine()), "since": Self.time(since),
      "lock": .string(lock.rawValue), "last_answer": Self.time(lastAnswer),
      "silent_s": silent.map(OutcomeReport.seconds) ?? .null, "awaited": .string(awaited.oneLine()),
      "next_launch": Self.time(nextLaunch), "launches": .integer(Int64(launches)),
      "revivals": .integer(Int64(revivals)), "flaps": .integer(Int64(flaps)), "held_by": heldBy?.json ?? .null,
      "paused_until": Self.time(pausedUntil), "usb_port": .text(usbPort?.oneLine()),
      "out_of_service": .text(outOfService?.oneLine()),
    ]
  }

  private static func time(_ moment: Duration?) -> JSON { .text(moment.map { WallClock.rfc3339($0) }) }
}

extension OutcomeWords {
  /// A good outcome: up, or revived and not crash-looping.
  public var isWell: Bool { self == OutcomeWords(.up) || self == OutcomeWords(.revived) }
}
