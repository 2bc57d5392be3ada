import DeviceBridge
import Wire

/// One body on the page.
struct BodyCard {
  let body: BodyPresent
  let time: PageTime

  init(_ body: BodyPresent, _ time: PageTime) {
    self.body = body
    self.time = time
  }

  static func mark(_ udid: UDID) -> String { "body-\(udid.description)" }

  var html: String {
    """
    <article class="card \(look)" id="\(HTMLText.of(Self.mark(body.udid)))">
    <h3>\(text(body.title))</h3>
    \(head)\(warnings)\(facts)</article>

    """
  }

  /// Sick ones come first, those out of service last.
  private var look: String {
    if body.outOfService != nil { return "out" }
    guard let words = body.words else { return "new" }
    if words.isWell { return body.isWellNow ? "well" : "aside" }
    switch words.kind {
    case .locked, .leftAlone, .held, .paused: return "aside"
    case .up, .revived, .silent, .launchedNoAnswer, .launchRefused, .untrusted, .unreachable, .hostFault: return "sick"
    }
  }

  /// The outcome, in its word and in a clause, and beside it the present.
  private var head: String {
    if let reason = body.outOfService {
      return "<p class=\"outcome\"><b>out of service</b> <span>\(text(reason))</span></p>\n"
    }
    guard let words = body.words else {
      return "<p class=\"outcome\"><b>not judged yet</b> <span>waits for \(text(body.awaited))</span></p>\n"
    }
    if words.isWell, !body.isWellNow {
      return "<p class=\"outcome\"><b>– \(text(words.kind.rawValue))</b> "
        + "<span>until a moment ago: now the door does not answer</span></p>\n\(present)"
    }
    if words.kind == .revived, words.isWell, let since = body.since {
      return "<p class=\"outcome\"><b>✓ up</b> <span>revived \(time.ago(since))</span></p>\n"
    }
    // A crash loop is no good outcome, whatever its kind.
    let isFalseHope = words.kind == .revived && !words.isWell
    let (symbol, word) = isFalseHope ? ("✗", words.text) : (words.kind.symbol, words.kind.rawValue)
    return "<p class=\"outcome\"><b>\(symbol) \(text(word))</b> <span>\(text(words.phrase))</span></p>\n\(present)"
  }

  private var present: String {
    var parts: [String] = []
    if let silent = body.silent { parts.append("silent \(time.length(since: time.now - silent))") }
    if let next = body.nextLaunch { parts.append("may act \(time.until(next))") }
    return parts.isEmpty ? "" : "<p class=\"now\">\(parts.joined(separator: ", "))</p>\n"
  }

  private var warnings: String {
    body.warnings(at: time.now).map { "<p class=\"warning\">⚠ \(text($0))</p>\n" }.joined()
  }

  private var facts: String {
    var facts: [(String, String)] = []
    if let since = body.since { facts.append(("since", exact(since, time.ago(since)))) }
    facts.append(("last answer", body.lastAnswer.map { "<span class=\"answer\">\(time.ago($0))</span>" } ?? "none yet"))
    switch body.lock {
    case .locked, .unlocked: facts.append(("lock", body.lock.rawValue))
    case .unknown: if !body.isWell { facts.append(("lock", "unknown")) }
    }
    if let holder = body.heldBy {
      facts.append(("held by", text(holder.text)))
    } else if body.words != nil, body.awaited != "nothing" {
      facts.append(("waits for", text(body.awaited)))
    }
    if let until = body.pausedUntil { facts.append(("pause ends", exact(until, time.until(until)))) }
    let counts = [(body.launches, "launches"), (body.revivals, "revivals"), (body.flaps, "flaps")].filter { $0.0 > 0 }
    if !counts.isEmpty { facts.append(("so far", counts.map { "\($0.0) \($0.1)" }.joined(separator: ", "))) }
    let rows = facts.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }.joined()
    let detail = body.isWell ? nil : body.detail.map { "<p class=\"detail\">\(text($0))</p>\n" }
    return "\(detail ?? "")<dl>\(rows)</dl>\n\(identity)"
  }

  /// Which phone it is, in one line.
  private var identity: String {
    var parts: [String] = []
    if let name = body.deviceName { parts.append(text(name.oneLine(limit: 80))) }
    if let port = body.usbPort { parts.append("USB \(text(port.oneLine(limit: 40)))") }
    if body.body != nil { parts.append("<code>\(text(body.udid.description))</code>") }
    return parts.isEmpty ? "" : "<p class=\"identity\">\(parts.joined(separator: " · "))</p>\n"
  }

  private func exact(_ moment: Duration, _ span: String) -> String {
    "\(span) <span class=\"exact\">\(text(PageTime.local(moment)))</span>"
  }

  private func text(_ text: String) -> String { HTMLText.of(text.oneLine()) }
}

extension BodyPresent {
  /// Its outcome is good, and its door has not fallen silent since.
  var isWellNow: Bool { isWell && silent == nil }

  /// What should make somebody look, though it is an outcome like others.
  func warnings(at now: Duration) -> [String] {
    guard let words, let since, outOfService == nil else { return [] }
    if words == OutcomeWords(.leftAlone, .hands), now - since > .seconds(12 * 3_600) {
      return ["hands have been on it for over 12 hours: is a test driver left running?"]
    }
    if words == OutcomeWords(.revived, .crashLooping) { return ["it needs somebody to look at the app"] }
    return []
  }

  /// Whether a card that shows this one has to be drawn anew. Times that its script counts on by itself are no reason.
  func looksDifferent(from old: BodyPresent) -> Bool {
    var (new, old) = (self, old)
    let silences = (new.silent != nil, old.silent != nil)
    let launches = (new.nextLaunch, old.nextLaunch)
    for keyPath in [\BodyPresent.lastAnswer, \.silent, \.nextLaunch] {
      new[keyPath: keyPath] = nil
      old[keyPath: keyPath] = nil
    }
    if new != old || silences.0 != silences.1 { return true }
    switch launches {
    case (nil, nil): return false
    case (let new?, let old?): return new - old > .seconds(3) || old - new > .seconds(3)
    case (nil, _?), (_?, nil): return true
    }
  }
}
