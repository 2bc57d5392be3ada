import DeviceBridge
import Wire

/// An outcome as it is recorded and told: the keys of `outcomes`.
public struct OutcomeReport: Equatable, Sendable {
  /// The row's number in the record; nil where it has none.
  public var seq: Int?
  /// When it was judged: the wall clock, since 1970.
  public var at: Duration
  /// fleet.yaml's name.
  public var body: String?
  /// nil for outcomes of the host.
  public var udid: UDID?
  public var words: OutcomeWords
  /// The outcome before it.
  public var was: OutcomeWords?
  public var detail: String?
  /// How long the door was found silent; nil when it never was.
  public var silent: Duration?
  /// A launch was sent.
  public var launched: Bool
  /// What the phone or the daemon said, where that is the outcome.
  public var error: PhoneError?
  /// What kept this machine from doing its part, where that is the outcome.
  public var trouble: HostTrouble?

  public init(
    seq: Int? = nil, at: Duration, body: String?, udid: UDID?, words: OutcomeWords, was: OutcomeWords? = nil,
    detail: String? = nil, silent: Duration? = nil, launched: Bool = false
  ) {
    self.seq = seq
    self.at = at
    self.body = body
    self.udid = udid
    self.words = words
    self.was = was
    self.detail = detail
    self.silent = silent
    self.launched = launched
  }

  public init(_ judgement: ReviveJudgement, of body: Body, at wall: Duration) {
    self.init(
      at: wall, body: body.name, udid: body.udid, words: judgement.words, detail: judgement.detail,
      silent: judgement.silent, launched: judgement.launched)
    error = judgement.error
    trouble = judgement.trouble
  }

  /// One object with all the keys; absent values are null.
  public var json: JSON {
    [
      "seq": seq.map { .integer(Int64($0)) } ?? .null, "at": .string(WallClock.rfc3339(at)), "body": .text(body),
      "udid": .text(udid?.description), "outcome": .string(words.kind.rawValue),
      "reason": .text(words.reason?.rawValue), "was": .text(was?.text), "detail": .text(detail),
      "silent_s": silent.map(Self.seconds) ?? .null, "launched": .boolean(launched),
    ]
  }

  /// Seconds to the millisecond; never 0 for a body that was silent.
  static func seconds(_ silent: Duration) -> JSON {
    let (seconds, attoseconds) = silent.components
    let milliseconds = max(seconds * 1_000 + attoseconds / 1_000_000_000_000_000, 1)
    return milliseconds % 1_000 == 0 ? .integer(milliseconds / 1_000) : .number(Double(milliseconds) / 1_000)
  }
}

extension OutcomeWords {
  /// What `fleetctl revive` ends with: 0 the door answers, 1 it does not, 3 the harness could not do its work.
  public var reviveExitCode: ExitCode {
    switch kind {
    case .up, .revived: .done
    case .silent, .locked, .launchedNoAnswer, .launchRefused, .leftAlone, .held, .paused: .no
    case .untrusted, .unreachable, .hostFault: .harness
    }
  }
}
