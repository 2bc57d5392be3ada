import Fleet
import Wire

/// A scenario file's nodes into a `Scenario`.
struct ScenarioReader {
  let reading: Reading
  /// What --var gave.
  let variables: [String: String]

  init(file: String, variables: [String: String] = [:]) {
    reading = Reading(file: file)
    self.variables = variables
  }

  func scenario(_ node: YAMLNode, hash: String) -> Scenario? {
    let root =
      variables.isEmpty
      ? node
      : Substitution(
        reading: reading, values: variables.mapValues { Substitution.Value(text: $0, plain: true) })(node)
    guard let fields = reading.fields(root, Forms.scenario) else { return nil }
    let name = fields.required("scenario", name)
    var result = Scenario(
      file: reading.file, hash: hash, name: name ?? "", line: fields["scenario"]?.line ?? root.line, about: nil,
      tags: [], needs: [], steps: [], recovers: [], quarantine: nil)
    fields.setOrNull("about", &result.about, reading.text)
    fields.set("tags", &result.tags, reading.texts)
    if let node = fields["needs"] { result.needs = needs(node) }
    let lists = StepListReader(reading: reading, names: variables)
    result.steps = fields.required("steps") { lists.steps($0, of: "steps") } ?? []
    if let node = fields["recovers"] { result.recovers = lists.steps(node, of: "recovers") ?? [] }
    if let node = fields["quarantine"] { result.quarantine = quarantine(node) }
    if fields["recovers"] == nil { checkThatNothingIsBroken(result) }
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
      reading.word(item, as: BodyState.self).map { Need(state: $0, line: item.line, column: item.column) }
    }
  }

  private func quarantine(_ node: YAMLNode) -> Quarantine? {
    guard let fields = reading.fields(node, Forms.quarantine) else { return nil }
    var quarantine = Quarantine(
      reason: fields.required("reason", reading.text) ?? "", until: nil, ticket: nil, on: [])
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

  /// What takes the app out of service must be seen to be over.
  private func checkThatNothingIsBroken(_ scenario: Scenario) {
    let needs = scenario.needs.map { ($0.state, $0.line, $0.column) }
    let steps = scenario.steps.compactMap { step -> (BodyState, Int, Int)? in
      guard case .arrange(let state) = step.action else { return nil }
      return (state, step.line, step.column)
    }
    guard let (state, line, column) = (needs + steps).first(where: { !$0.0.isRest }) else { return }
    reading.wrong(
      line: line, column: column,
      "\(state.rawValue) takes the app out of service, so the scenario needs 'recovers', which shows that it is back")
  }
}

extension BodyState {
  /// A kiosk in service is so, or may be: nothing has to be undone.
  var isRest: Bool {
    switch self {
    case .unlocked, .inFront, .cameraGranted, .appInstalled, .tokenConfigured: true
    case .locked, .inBackground, .notRunning, .suspended, .listenerDead, .cameraBusy, .cameraStuck, .cameraDenied,
      .rebooted, .beforeFirstUnlock:
      false
    }
  }
}
