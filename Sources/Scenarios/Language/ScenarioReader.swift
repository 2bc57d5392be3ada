import Fleet
import Wire

/// A scenario file's nodes into a `Scenario`.
struct ScenarioReader {
  let reading: Reading

  init(file: String) { reading = Reading(file: file) }

  static let keys = ["scenario", "about", "tags", "needs", "steps", "recovers", "quarantine"]

  func scenario(_ root: YAMLNode, hash: String) -> Scenario? {
    guard let fields = reading.fields(root, of: "a scenario", keys: Self.keys) else { return nil }
    let name = fields.required("scenario", name)
    var result = Scenario(
      file: reading.file, hash: hash, name: name ?? "", line: fields["scenario"]?.line ?? root.line, about: nil,
      tags: [], needs: [], steps: [], recovers: [], quarantine: nil)
    fields.setOrNull("about", &result.about, reading.text)
    fields.set("tags", &result.tags, reading.texts)
    if let node = fields["needs"] { result.needs = needs(node) }
    result.steps = fields.required("steps") { steps($0, of: "steps") } ?? []
    if let node = fields["recovers"] { result.recovers = steps(node, of: "recovers") ?? [] }
    if let node = fields["quarantine"] { result.quarantine = quarantine(node) }
    if fields["recovers"] == nil { checkThatNothingIsArranged(fields["steps"], result.steps) }
    return name == nil ? nil : result
  }

  private func name(_ node: YAMLNode) -> String? {
    guard let text = reading.text(node) else { return nil }
    if !text.isEmpty, text.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 }) { return text }
    reading.wrong(node, "a scenario's name is one line of visible characters")
    return nil
  }

  private func needs(_ node: YAMLNode) -> [Need] {
    guard case .sequence(let items) = node.value else {
      reading.wrong(node, "needs is a list of states, not \(node.kind)")
      return []
    }
    return items.compactMap { item in
      guard let state: BodyState = reading.word(item) else { return nil }
      guard state.isNeededInThisVersion else {
        reading.wrong(item, "this version of fleetctl cannot look for '\(state.rawValue)' yet")
        return nil
      }
      return Need(state: state, line: item.line)
    }
  }

  private func steps(_ node: YAMLNode, of list: String) -> [Step]? {
    guard case .sequence(let items) = node.value else {
      reading.wrong(node, "\(list) is a list of steps, not \(node.kind)")
      return nil
    }
    if items.isEmpty {
      reading.wrong(node, "\(list) is empty; it needs at least one step")
      return nil
    }
    var pairs = StartedRequests(reading)
    let steps = items.compactMap { item -> Step? in
      guard let step = StepReader(reading).step(item) else { return nil }
      pairs.take(step, at: item)
      return step
    }
    if steps.count == items.count { pairs.finish() }
    return steps
  }

  private func quarantine(_ node: YAMLNode) -> Quarantine? {
    guard let fields = reading.fields(node, of: "quarantine", keys: ["reason", "until", "ticket", "on"]),
      let reason = fields.required("reason", reading.text)
    else { return nil }
    var quarantine = Quarantine(reason: reason, until: nil, ticket: nil, on: [])
    fields.setOrNull("until", &quarantine.until, reading.day)
    fields.setOrNull("ticket", &quarantine.ticket, reading.text)
    if let node = fields["on"] {
      quarantine.on = reading.texts(node) ?? []
      if case .sequence(let items) = node.value, items.isEmpty {
        reading.wrong(node, "on is empty; leave it out where the fault is known on every body")
      }
    }
    return quarantine
  }

  /// What was arranged must be seen to be gone again.
  private func checkThatNothingIsArranged(_ node: YAMLNode?, _ steps: [Step]) {
    for step in steps {
      guard case .arrange(let state) = step.action else { continue }
      reading.wrong(
        line: step.line, column: step.column,
        "a scenario that arranges \(state.rawValue) needs 'recovers', which shows that the app is back afterwards")
      return
    }
  }
}

/// Requests that run beside the steps: each is started once and then finished once.
private struct StartedRequests {
  private let reading: Reading
  private var open: [String: YAMLNode] = [:]
  private var finished: Set<String> = []

  init(_ reading: Reading) { self.reading = reading }

  mutating func take(_ step: Step, at node: YAMLNode) {
    switch step.action {
    case .start(let name, _):
      if open[name] != nil || finished.contains(name) {
        reading.wrong(node, "a request called '\(name)' was started already; each needs a name of its own")
      }
      open[name] = node
    case .finish(let name, _):
      if open.removeValue(forKey: name) != nil {
        finished.insert(name)
      } else if finished.contains(name) {
        reading.wrong(node, "'\(name)' was finished already")
      } else {
        let near = NearestWord.to(name, among: Array(open.keys)).map { "; '\($0)' is meant?" } ?? ""
        reading.wrong(node, "nothing called '\(name)' was started before\(near)")
      }
    case .arrange, .request, .until, .launch, .lock, .door, .wait: break
    }
  }

  func finish() {
    for (name, node) in open { reading.wrong(node, "'\(name)' is started and never finished; add: finish: \(name)") }
  }
}

extension BodyState {
  /// States that a scenario can arrange so far.
  var isArrangedInThisVersion: Bool {
    switch self {
    case .unlocked, .locked, .inFront, .inBackground: true
    case .notRunning, .suspended, .listenerDead, .cameraBusy, .cameraStuck, .cameraGranted, .cameraDenied,
      .appInstalled, .rebooted, .beforeFirstUnlock, .tokenConfigured:
      false
    }
  }

  /// States that a scenario can need so far.
  var isNeededInThisVersion: Bool {
    switch self {
    case .unlocked, .locked, .inFront, .inBackground, .cameraGranted, .appInstalled: true
    case .notRunning, .suspended, .listenerDead, .cameraBusy, .cameraStuck, .cameraDenied, .rebooted,
      .beforeFirstUnlock, .tokenConfigured:
      false
    }
  }
}
