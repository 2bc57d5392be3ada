import Fleet
import Wire

/// What may happen, how often, and for how long: a script out of a seed.
public struct Chances: Sendable {
  /// Between two things that happen to one phone, and between two that happen to the host, on average.
  public var phoneGap: Duration
  public var hostGap: Duration

  /// A shelf of kiosks as it is: months of it.
  public static let everyday = Chances(phoneGap: .seconds(18 * 3_600), hostGap: .seconds(12 * 3_600))
  /// So much at once that things happen while others are under way.
  public static let crowded = Chances(phoneGap: .seconds(700), hostGap: .seconds(1_500))

  private enum Incident {
    case once(PhoneVerb)
    /// With a span.
    case lasting(PhoneVerb, ClosedRange<Double>)
    /// One verb, and the one that ends it so many seconds later.
    case pair(PhoneVerb, PhoneVerb, ClosedRange<Double>, span: Duration?)
    case reboot
  }

  private static let moments = 1.0...400.0
  private static let minutes = 20.0...3_600.0
  private static let hours = 20.0...30_000.0

  private static func pair(
    _ begin: PhoneVerb, _ end: PhoneVerb, _ range: ClosedRange<Double>, span: Double? = nil
  ) -> Incident { .pair(begin, end, range, span: span.map { .seconds($0) }) }

  private static let ofPhones: [(weight: Double, incident: Incident)] = [
    (12, .once(.appDies)), (4, .once(.appHangs)), (2, .once(.appHalfAnswers)), (3, .once(.appStarts)),
    (1, pair(.appRemoved, .appInstalled, hours)), (1, .once(.appUpdated)),
    (1, pair(.launchAnswersAfter, .launchWorks, hours, span: 11)),
    (0.5, pair(.launchAnswersAfter, .launchWorks, hours, span: 8)),
    (0.7, pair(.launchAnswersAfter, .launchWorks, hours, span: 25)),
    (1, pair(.launchNeverAnswers, .launchWorks, hours)), (0.7, pair(.launchHangs, .launchWorks, hours)),
    (0.5, pair(.launchHalfAnswers, .launchWorks, hours)), (0.7, pair(.launchCrashes, .launchWorks, hours)),
    (1.5, pair(.launchDiesAfter, .launchWorks, hours, span: 120)), (0.7, pair(.launchFails, .launchWorks, hours)),
    (0.5, pair(.launchUnanswered, .launchWorks, hours)), (0.7, pair(.launchRefusedLocked, .launchWorks, hours)),
    (0.7, pair(.launchRefusedUntrusted, .launchWorks, hours)), (1, pair(.launchLocks, .launchWorks, minutes)),
    (8, pair(.lock, .unlock, hours)), (3, pair(.lock, .unlock, moments)),
    (1, pair(.lockUnreadable, .lockReadable, hours)), (0.7, pair(.lockSlow, .lockReadable, hours)),
    (0.1, .once(.lockSilent)),
    (4, .lasting(.flap, 0.5...14)), (1, .lasting(.flap, 14...40)), (2, pair(.unplug, .plug, hours)),
    (1, pair(.networkOn, .networkOff, hours)), (1, pair(.twinOn, .twinOff, hours)), (2, .reboot),
    (0.4, pair(.trustPending, .trustGiven, hours)), (0.3, pair(.trustDenied, .trustGiven, hours)),
    (0.3, pair(.trustStale, .trustGiven, hours)), (0.3, pair(.trustNone, .trustGiven, hours)),
    (1.5, pair(.lockdownHangs, .lockdownWorks, hours)), (0.5, pair(.tlsFails, .tlsWorks, hours)),
    (1, pair(.imageGone, .imageMounted, hours)), (0.3, pair(.mountFails, .mountWorks, hours)),
    (0.7, .lasting(.serviceLate, 2...900)),
    (2, pair(.handsOn, .handsOff, hours)), (1, pair(.handsOdd, .handsOff, hours)),
    (3, pair(.runTakes, .letsGo, minutes)), (1, pair(.runTakes, .letsGo, moments)),
    (1, pair(.personTakes, .letsGo, hours)), (2, .lasting(.pause, 20...20_000)), (0.7, .once(.resume)),
    (2, .once(.revive)), (0.3, pair(.bodyDropped, .bodyAdded, hours)),
  ]

  private static let ofHost: [(weight: Double, begin: HostVerb, end: HostVerb?, range: ClosedRange<Double>)] = [
    (3, .muxGone, .muxBack, 0.5...7_000), (1, .muxSilent, .muxBack, 5...7_000), (1, .diskFull, .diskFine, 5...9_000),
    (0.5, .diskSlow, .diskFine, 5...3_000), (0.5, .diskDead, .diskFine, 5...9_000),
    (0.7, .descriptorsOut, .descriptorsBack, 5...7_000), (2.5, .sleep, nil, 2...10_000), (2.5, .stall, nil, 5...900),
    (1, .wallBack, nil, 1...10_000), (1, .wallForward, nil, 1...10_000), (4, .kill, nil, 0.2...600),
    (4, .killAfter, nil, 1...14), (0.7, .hostReboot, nil, 30...300), (1.5, .hubOff, .hubOn, 1...7_000),
    (0.05, .recordDeleted, nil, 1...2),
  ]

  private let phoneTotal = Self.ofPhones.reduce(0) { $0 + $1.weight }
  private let hostTotal = Self.ofHost.reduce(0) { $0 + $1.weight }

  public init(phoneGap: Duration, hostGap: Duration) {
    self.phoneGap = phoneGap
    self.hostGap = hostGap
  }

  /// In order of time.
  public func script(seed: UInt64, phones: Int, length: Duration) -> [ScriptLine] {
    var random = SeededRandom(seed: seed)
    var lines: [ScriptLine] = []
    for phone in 0..<phones {
      var at = Self.wait(phoneGap, &random)
      while at < length {
        addIncident(at, phone, &lines, &random)
        // A silent door is what makes most of it matter.
        if Self.chance(0.4, &random) {
          let near = at + Self.milliseconds(Double.random(in: -200...200, using: &random))
          lines.append(ScriptLine(max(near, .milliseconds(1)), phone, .appDies))
        }
        at += Self.chance(0.25, &random) ? Self.milliseconds(Self.span(1...500, &random)) : Self.wait(phoneGap, &random)
      }
    }
    var at = Self.wait(hostGap, &random)
    while at < length {
      addHostIncident(at, phones, &lines, &random)
      at += Self.chance(0.15, &random) ? Self.milliseconds(Self.span(1...500, &random)) : Self.wait(hostGap, &random)
    }
    lines.removeAll { $0.at >= length }
    return lines.sorted { $0.at < $1.at }
  }

  private func addIncident(
    _ at: Duration, _ phone: Int, _ lines: inout [ScriptLine], _ random: inout SeededRandom
  ) {
    var ticket = Double.random(in: 0..<phoneTotal, using: &random)
    let incident =
      Self.ofPhones.first {
        ticket -= $0.weight; return ticket < 0
      }?.incident ?? .once(.appDies)
    switch incident {
    case .once(let verb): lines.append(ScriptLine(at, phone, verb))
    case .lasting(let verb, let range):
      lines.append(ScriptLine(at, phone, verb, Self.milliseconds(Self.span(range, &random))))
    case .pair(let begin, let end, let range, let span):
      lines.append(ScriptLine(at, phone, begin, span))
      lines.append(ScriptLine(at + Self.milliseconds(Self.span(range, &random)), phone, end))
    case .reboot:
      let away = Self.milliseconds(Self.span(3...90, &random))
      let unlock = at + away + Self.milliseconds(Self.span(1...8_000, &random))
      lines.append(ScriptLine(at, phone, .reboot, away))
      lines.append(ScriptLine(unlock, phone, .unlock))
      let mounted = unlock + Self.milliseconds(Self.span(1...4_000, &random))
      lines.append(ScriptLine(mounted, phone, .imageMounted))
    }
  }

  private func addHostIncident(
    _ at: Duration, _ phones: Int, _ lines: inout [ScriptLine], _ random: inout SeededRandom
  ) {
    var ticket = Double.random(in: 0..<hostTotal, using: &random)
    guard
      let incident = Self.ofHost.first(where: {
        ticket -= $0.weight; return ticket < 0
      })
    else { return }
    let phone = Int.random(in: 0..<phones, using: &random)
    let span = Self.milliseconds(Self.span(incident.range, &random))
    guard let end = incident.end else {
      let whole = incident.begin == .killAfter ? .seconds(span.components.seconds) : span
      lines.append(ScriptLine(at, incident.begin, phone: phone, whole))
      return
    }
    lines.append(ScriptLine(at, incident.begin, phone: phone))
    lines.append(ScriptLine(at + span, end, phone: phone))
  }

  private static func chance(_ part: Double, _ random: inout SeededRandom) -> Bool {
    Double.random(in: 0..<1, using: &random) < part
  }

  /// Between the two, short ones as often as long ones.
  private static func span(_ range: ClosedRange<Double>, _ random: inout SeededRandom) -> Double {
    let exponent = Double.random(in: 0...1, using: &random)
    return range.lowerBound * power(range.upperBound / range.lowerBound, exponent)
  }

  private static func wait(_ mean: Duration, _ random: inout SeededRandom) -> Duration {
    milliseconds(-mean.inSeconds * logarithm(Double.random(in: 1e-9...1, using: &random)))
  }

  private static func milliseconds(_ seconds: Double) -> Duration {
    .milliseconds(Int64((seconds * 1_000).rounded(.up)))
  }
}
