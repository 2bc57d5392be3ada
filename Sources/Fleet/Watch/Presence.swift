import DeviceBridge

/// Whether a phone is there, out of what the mux lists and what a look has found.
///
/// Times are of the clock that stops in the host's sleep.
public struct Presence: Equatable, Sendable {
  /// The USB entries, the newest last. The newest is the body; one over the network is listed and never used.
  public private(set) var devices: [Int] = []
  /// The sysfs path of the USB port that it was last seen at.
  public private(set) var port: String?
  /// Whether its presence counts: false from an absence longer than the settle time on, until it has been there for
  /// that long without a gap.
  private(set) var counts: Bool
  /// Since when it is not there, or not lastingly.
  private(set) var awayFrom: Duration?
  /// Since when it is there again.
  private(set) var backFrom: Duration?
  /// The mux lists it, and a look said that it is not there.
  private(set) var isDenied = false
  /// What the mux lists first after (re)starting was there all the time, unless it had been missed before.
  private var isRelisting = true
  private var wasMissed = false
  private let book: RuleBook

  init(from start: Duration, counts: Bool, _ book: RuleBook) {
    awayFrom = start
    self.counts = counts
    self.book = book
  }

  public var isThere: Bool { !devices.isEmpty && !isDenied }
  /// Whether a look can be tried: a listed phone that was denied is asked again.
  var canBeAsked: Bool { !devices.isEmpty && (counts || isDenied) }
  /// The mux's number for the body now.
  public var device: Int? { devices.last }

  // MARK: - What happens

  /// - Returns: whether it came back from a flap.
  mutating func attached(_ device: Int, _ transport: PhoneTransport, port: String?, at now: Duration) -> Bool {
    guard transport == .usb || !book.keeps(.usbEntriesOnly) else { return false }
    let wasThere = isThere
    if !devices.contains(device) { devices.append(device) }
    self.port = port ?? self.port
    isDenied = false
    return wasThere ? false : appeared(now)
  }

  mutating func detached(_ device: Int, at now: Duration) {
    let wasThere = isThere
    devices.removeAll { $0 == device }
    if devices.isEmpty { isDenied = false }
    if wasThere, !isThere { vanished(now) }
  }

  /// A look found no phone where the mux lists one.
  mutating func wasDenied(at now: Duration) {
    guard isThere else { return }
    isDenied = true
    vanished(now)
  }

  /// A look found one.
  ///
  /// - Returns: whether it came back from a flap.
  mutating func wasConfirmed(at now: Duration) -> Bool {
    guard isDenied else { return false }
    isDenied = false
    return appeared(now)
  }

  private mutating func appeared(_ now: Duration) -> Bool {
    let isFirst = isRelisting
    isRelisting = false
    if wasMissed { (wasMissed, counts) = (false, false) }
    guard counts, isFirst else {
      backFrom = now
      return counts
    }
    (awayFrom, backFrom) = (nil, nil)
    return false
  }

  private mutating func vanished(_ now: Duration) {
    backFrom = nil
    awayFrom = awayFrom ?? now
  }

  /// What the mux lists is told anew.
  mutating func relist(at now: Duration) {
    devices = []
    isDenied = false
    isRelisting = true
    // Whether it is still away is not known again before the settle time is over.
    wasMissed = wasMissed || !counts
    counts = true
    (awayFrom, backFrom) = (now, nil)
  }

  /// Nobody has looked for a while: who has not been listed yet is not missing for that.
  mutating func interrupted(at now: Duration) {
    if counts, isRelisting, awayFrom != nil { awayFrom = now }
  }

  /// The hub is back: who of its phones is still missing is missed from now on.
  mutating func hubReturned(at now: Duration, counts: Bool) {
    guard !isThere else { return }
    self.counts = counts
    isRelisting = true
    (awayFrom, backFrom) = (now, nil)
  }

  // MARK: - What only time does

  enum Change { case none, lost, returned }

  mutating func pass(to now: Duration, settle: Duration) -> Change {
    if isThere, let backFrom, now - backFrom >= (book.keeps(.presenceSettles) ? settle : .zero) {
      self.backFrom = nil
      awayFrom = nil
      defer { counts = true }
      return counts ? .none : .returned
    }
    if !isThere, counts, let awayFrom, now - awayFrom >= (book.keeps(.absenceSettles) ? settle : .zero) {
      counts = false
      return .lost
    }
    return .none
  }

  /// When `pass` may next do something; nil when only an event can.
  func next(settle: Duration) -> Duration? {
    if isThere { return backFrom.map { $0 + settle } }
    return counts ? awayFrom.map { $0 + settle } : nil
  }
}
