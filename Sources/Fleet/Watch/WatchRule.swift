/// The rules of docs/watch.md, by name: where the watch keeps one, the code says its name.
///
/// Each can be taken out (`RuleBook.without`), which only tests do, to see that it would be missed.
public enum WatchRule: Int, Sendable, CaseIterable {
  // MARK: Decision order

  /// A door that answers is up, whatever trust or lockdown say.
  case theDoorComesFirst
  /// A trouble of the host is one row of the host's; bodies keep their outcome meanwhile.
  case hostTroubleIsTheHosts
  /// Absent for no longer than the settle time is no outcome.
  case absenceSettles
  /// Presence counts again only after the settle time without a gap.
  case presenceSettles
  /// While somebody else holds the phone it is neither looked at nor judged nor launched on.
  case holdsAreHonoured
  /// No session is an outcome after the settle time, and without a grace.
  case sessionTroubleSettles
  /// Nothing is done before the grace is over.
  case grace
  /// Where the hands' driver answers, the body is left alone.
  case handsAreLeftAlone
  /// Unless its port is refused, hands may be there: left alone this round, without a row.
  case unknownHandsAreHands
  /// The lock is read, and locked is no launch.
  case lockedIsLeftAlone
  /// A lock that can't be read is not unlocked.
  case unknownIsNotUnlocked
  /// The reading is at most two seconds old when the launch is sent.
  case lockReadingIsFresh
  /// A pause withholds launches.
  case pausesAreHonoured
  /// One launch a spacing.
  case spacing
  /// Where others bring the app back, nothing is launched.
  case launcherNone
  /// With a launch withheld, what the last launch of the same silence ended as stays.
  case lastLaunchStays
  /// The door is asked once more right before a launch.
  case probeOnceMore

  // MARK: Launching

  /// No stamp, no launch.
  case stampBeforeLaunch
  /// Of another boot the wall clock's difference counts, and where that is negative a whole spacing.
  case stampOutlivesBoot
  /// Another's launch counts for the spacing as our own does.
  case othersLaunchesCount
  /// Revived is only what answered within its time.
  case answersInTime
  /// A launch refused as Locked, or overtaken by the lock, is locked/passcode.
  case lockedHasOneName
  /// A launch is one attempt of at most two requests.
  case atMostTwoRequests
  /// After a launched-no-answer the next launch of that silence ends the running app first.
  case freshAfterNoAnswer
  /// After a refusal for a fact, the fact is read anew once a spacing, and a launch follows only where it has changed.
  case factsAreReadAnew
  /// A service can be missing for some seconds: it is asked up to three times within ten seconds.
  case serviceIsAskedThrice
  /// An image is mounted at most once a boot and image.
  case oneMountPerBootAndImage
  /// Nothing is mounted while the lookup shows an image, or does not tell.
  case noMountOverAnImage
  /// A revival lets go of the phone after half a minute at most.
  case leaseIsShort

  // MARK: Time

  /// Silence and deadlines stop in the host's sleep.
  case silenceStopsInSleep
  /// Spacing does not.
  case spacingRunsInSleep
  /// A gap in the rounds adds nothing to silence.
  case gapsAreNotSilence
  /// After an interruption one fresh failed probe comes before any launch.
  case freshProbeAfterGap
  /// The grace begins anew when a phone returns after more than the settle time.
  case graceAfterReturn
  /// … when sessions work again after untrusted or before-first-unlock.
  case graceAfterSession
  /// … when the lock goes to unlocked.
  case graceAfterUnlock
  /// … when hands end.
  case graceAfterHands
  /// … when a hold ends.
  case graceAfterHold
  /// … when the mux returns.
  case graceAfterMux
  /// A flap does not begin it anew.
  case flapKeepsGrace
  /// Nor does the end of a pause.
  case pauseKeepsGrace
  /// A grace that begins anew leaves `silent_s` as it was.
  case silenceIsKept

  // MARK: Rows

  /// At most one row for a change, and none without one.
  case oneRowPerChange
  /// A restart writes no row for a body whose outcome has not changed.
  case restartIsNoChange
  /// `revived` is as good as up; no `up` row follows it.
  case revivedIsUp
  /// A second revival is a row only where the body had answered for a spacing in between.
  case revivalsInARowAreCounted
  /// Three launches within an hour are crash-looping.
  case crashLooping
  /// Until an hour has passed without a launch.
  case crashLoopingEnds
  /// A hub that leaves with all its phones is one row.
  case hubIsOneRow
  /// A row that can't be stored is stored later, in order, with its own time.
  case rowsAreKept
  /// Never two commands open on one phone.
  case oneAtATime
  /// One phone's trouble delays no other phone's probe.
  case ownRounds
  /// Of a phone's USB entries any serves; an entry over the network serves for none.
  case usbEntriesOnly
}

/// Which rules hold: all of them, except in tests that take one out to see it missed.
public struct RuleBook: Equatable, Sendable {
  private var omitted: UInt64 = 0

  /// All rules.
  public static let whole = RuleBook()

  private init() {}

  public func without(_ rule: WatchRule) -> RuleBook {
    var book = self
    book.omitted |= 1 << UInt64(rule.rawValue)
    return book
  }

  public func keeps(_ rule: WatchRule) -> Bool { omitted & (1 << UInt64(rule.rawValue)) == 0 }
}
