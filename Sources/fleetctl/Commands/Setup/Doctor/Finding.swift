import Fleet
import Wire

/// What `fleetctl doctor` found out about one thing: it is in order, it is not, or that could not be checked.
struct Finding: Equatable, Sendable {
  enum State: String, Sendable {
    case ok
    case notOK = "not-ok"
    /// Never taken for being in order.
    case unknown
  }

  /// The body's title; nil for what concerns this machine.
  var body: String?
  var udid: UDID?
  /// A word or two.
  var check: String
  var state: State
  var found: String
  /// What to do or to type; nil where nothing is to be done.
  var next: String?

  static func ok(_ check: String, _ found: String) -> Finding { Finding(check: check, state: .ok, found: found) }

  static func notOK(_ check: String, _ found: String, next: String) -> Finding {
    Finding(check: check, state: .notOK, found: found, next: next)
  }

  static func unknown(_ check: String, _ found: String, next: String? = nil) -> Finding {
    Finding(check: check, state: .unknown, found: found, next: next)
  }

  /// - Parameter sentence: of three parts; the last one is the next step.
  init(_ check: String, _ state: State, sentence: String) {
    let parts = sentence.split(separator: ". ", omittingEmptySubsequences: true).map(String.init)
    self.init(check: check, state: state, found: sentence, next: nil)
    guard parts.count > 1, let last = parts.last else { return }
    found = parts.dropLast().joined(separator: ". ") + "."
    next = last
  }

  init(
    body: String? = nil, udid: UDID? = nil, check: String, state: State, found: String, next: String? = nil
  ) {
    self.body = body
    self.udid = udid
    self.check = check
    self.state = state
    self.found = found
    self.next = next
  }

  func of(_ body: Body) -> Finding {
    var finding = self
    (finding.body, finding.udid) = (body.title, body.udid)
    return finding
  }

  var json: JSON {
    [
      "body": .text(body), "udid": .text(udid?.description), "check": .string(check), "state": .string(state.rawValue),
      "found": .string(found), "next": .text(next),
    ]
  }
}

extension Sequence where Element == Finding {
  /// Something is wrong, or else could not be checked.
  var exitCode: ExitCode {
    let states = map(\.state)
    return states.contains(.notOK) ? .no : states.contains(.unknown) ? .harness : .done
  }
}
