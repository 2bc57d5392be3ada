/// A call of a CoreDevice service, or RSD's own message, that goes wrong because somebody asked for it.
struct CallFault: Equatable, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    /// Takes the call, does nothing, and never answers.
    case silent
    /// Does what is asked, and the answer never comes.
    case mute
    /// Answers after a while.
    case slow
    /// The connection ends instead of an answer.
    case close
    /// The connection ends in the middle of the answer.
    case half
    /// Half of the answer, and silence.
    case stall
    /// The answer byte by byte.
    case drip
    /// An answer without output and without error.
    case shape
    /// An output of another kind than was asked for.
    case mistyped
    /// An answer as deep as somebody wishes.
    case deep
    /// The answer's header claims 4 GiB.
    case oversized
    /// Bytes that are no XPC.
    case garbage
    /// The answer to another call.
    case stranger
    /// An error of somebody's choice.
    case error
  }

  /// In place of a feature: the phone's list of services.
  static let rsd = "rsd"
  static let anyCall = "all"

  var kind: Kind
  /// A feature's short name, `rsd`, or `all` calls.
  var call: String
  /// `slow`: phone time until the answer; `drip`: between two bytes.
  var pause: Duration = .zero
  /// `deep`: levels.
  var levels = 10_000
  /// `error`.
  var domain = "com.apple.dt.CoreDeviceError"
  var code: Int64 = 10002
  var text = "The operation could not be completed."
  /// So many calls more; nil until it is taken away.
  var left: Int?
}

extension RemoteRules {
  /// The fault in the way of this call, counted down.
  mutating func takeFault(for call: String) -> CallFault? {
    let index = faults.firstIndex { $0.call == call || ($0.call == CallFault.anyCall && call != CallFault.rsd) }
    guard let index else { return nil }
    let fault = faults[index]
    if let left = fault.left {
      faults[index].left = left - 1
      if left <= 1 { faults.remove(at: index) }
    }
    return fault
  }
}
