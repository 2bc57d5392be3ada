/// What the watch of one body must not forget when its process ends; its last outcome is the record's latest row.
///
/// It is stored whenever it has changed, in one transaction with the row where there is one. A memory never takes the
/// place of one with a higher revision: a row that is stored late carries an old one.
public struct WatchMemory: Equatable, Sendable {
  public var revision = 0
  /// The newest launch attempt: spacing is counted from it.
  public var stamp: LaunchStamp?
  /// The launches that may have reached the phone, the newest last; no more than crash-looping asks for.
  public var launches: [LaunchStamp] = []
  public var launchCount = 0
  public var revivals = 0
  public var flaps = 0
  /// Since the newest launch it has answered for at least a spacing.
  public var isProven = false
  /// A launch may have been sent since the last row.
  public var launchedSinceRow = false
  /// What the last launch of the present silence ended as.
  public var launchEnd: OutcomeWords?
  public var refusal: Refusal?
  /// The boot and image for which mounting was tried.
  public var mountTried: String?
  /// The wall clock at the last answer before this was stored.
  public var lastAnswer: Duration?

  public init() {}

  /// The same for this boot of the host's; asked once, when the process starts (see `LaunchStamp.rebased`).
  func rebased(to now: LaunchStamp, _ book: RuleBook) -> WatchMemory {
    var memory = self
    if book.keeps(.stampOutlivesBoot) {
      memory.stamp = stamp?.rebased(to: now)
      memory.launches = launches.map { $0.rebased(to: now) }
    }
    return memory
  }

  /// Adds a launch that is about to be sent.
  mutating func launching(_ stamp: LaunchStamp) {
    self.stamp = stamp
    launches = launches.suffix(WatchRules.crashLoop.launches - 1) + [stamp]
    launchCount += 1
    isProven = false
    launchedSinceRow = true
  }

  /// Whether it is launched so often that it must be crashing.
  func isCrashLooping(at now: WatchTime) -> Bool {
    let recent = launches.count { now.elapsed - $0.elapsed < WatchRules.crashLoop.span }
    return recent >= WatchRules.crashLoop.launches
  }
}
