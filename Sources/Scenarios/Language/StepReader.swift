import DeviceBridge
import Fleet
import Wire

/// One step's node into a `Step`.
struct StepReader {
  let reading: Reading

  init(_ reading: Reading) { self.reading = reading }

  /// The key that says what a step does.
  private enum Kind: String, CaseIterable {
    case arrange, request, start, finish, until, launch, lock, door, wait
    case revive, app, files, screen, log, operatorStep = "operator", command, repeatSteps = "repeat"
    case forEach = "for-each"

    /// The keys that may stand beside it.
    var companions: [String]? {
      switch self {
      case .arrange, .launch, .wait: []
      case .request: RequestReader.keys + ["expect", "retry-within"]
      case .start: ["request"] + RequestReader.keys
      case .finish: ["expect"]
      case .until: ["within", "every"]
      case .lock: ["within"]
      case .door: ["within", "for"]
      case .revive, .app, .files, .screen, .log, .operatorStep, .command, .repeatSteps, .forEach: nil
      }
    }
  }

  func step(_ node: YAMLNode) -> Step? {
    guard case .mapping(let entries) = node.value else {
      reading.wrong(node, "a step is a mapping such as 'request: GET /hello', not \(node.kind)")
      return nil
    }
    guard let (kind, entry) = kind(of: entries, node) else { return nil }
    guard let companions = kind.companions else {
      reading.wrong(
        line: entry.keyLine, column: entry.keyColumn,
        "this version of fleetctl does not run '\(kind.rawValue)' steps yet")
      return nil
    }
    let everyKey = Set(Kind.allCases.map(\.rawValue) + Kind.allCases.flatMap { $0.companions ?? [] })
    let fields = reading.fields(node, of: "'\(kind.rawValue)'", keys: [kind.rawValue] + companions) { key in
      everyKey.contains(key) ? "'\(key)' does not go with '\(kind.rawValue)'" : nil
    }
    guard let fields, let action = action(kind, entry.value, fields) else { return nil }
    return Step(line: node.line, column: node.column, action: action)
  }

  private func kind(of entries: [YAMLNode.Entry], _ node: YAMLNode) -> (Kind, YAMLNode.Entry)? {
    let kinds = entries.compactMap { entry in Kind(rawValue: entry.key).map { ($0, entry) } }
    if let start = kinds.first(where: { $0.0 == .start }) { return start }
    if let first = kinds.first { return first }
    let words = Kind.allCases.filter { $0.companions != nil }.map(\.rawValue)
    guard let entry = entries.first else {
      reading.wrong(node, "a step is empty; it does one of: \(words.joined(separator: ", "))")
      return nil
    }
    let near = NearestWord.to(entry.key, among: Kind.allCases.map(\.rawValue))
    let hint = near.map { "'\($0)' is meant?" } ?? "a step does one of: \(words.joined(separator: ", "))"
    reading.wrong(line: entry.keyLine, column: entry.keyColumn, "'\(entry.key)' is no step; \(hint)")
    return nil
  }

  private func action(_ kind: Kind, _ node: YAMLNode, _ fields: Fields) -> Step.Action? {
    switch kind {
    case .arrange: state(node).map(Step.Action.arrange)
    case .request: RequestReader(reading).judged(fields).map(Step.Action.request)
    case .start: start(node, fields)
    case .finish: finish(node, fields)
    case .until: until(node, fields)
    case .launch: launch(node).map(Step.Action.launch)
    case .lock: lock(node, fields)
    case .door: door(node, fields)
    case .wait: reading.duration(node).map(Step.Action.wait)
    case .revive, .app, .files, .screen, .log, .operatorStep, .command, .repeatSteps, .forEach: nil
    }
  }

  private func state(_ node: YAMLNode) -> BodyState? {
    guard let state: BodyState = reading.word(node) else { return nil }
    if state.isArrangedInThisVersion { return state }
    reading.wrong(node, "this version of fleetctl cannot arrange '\(state.rawValue)' yet")
    return nil
  }

  private func start(_ node: YAMLNode, _ fields: Fields) -> Step.Action? {
    guard let name = reading.text(node), fields.required("request", { $0 }) != nil,
      let request = RequestReader(reading).request(fields)
    else { return nil }
    return .start(name: name, request)
  }

  private func finish(_ node: YAMLNode, _ fields: Fields) -> Step.Action? {
    guard let name = reading.text(node) else { return nil }
    guard let expect = fields["expect"] else { return .finish(name: name, Expectation()) }
    return ExpectationReader(reading).expectation(expect).map { .finish(name: name, $0) }
  }

  private func until(_ node: YAMLNode, _ fields: Fields) -> Step.Action? {
    let within = fields.required("within", reading.positiveDuration)
    let every = fields["every"].map(reading.positiveDuration) ?? .milliseconds(200)
    guard let condition = condition(node), let within, let every else { return nil }
    return .until(UntilStep(condition: condition, within: within, every: every))
  }

  private func condition(_ node: YAMLNode) -> UntilStep.Condition? {
    if node["lock"] != nil {
      guard let fields = reading.fields(node, of: "until: {lock: …}", keys: ["lock"]) else { return nil }
      return fields["lock"].flatMap(lockState).map(UntilStep.Condition.lock)
    }
    let keys = ["request"] + RequestReader.keys + ["expect"]
    guard let fields = reading.fields(node, of: "until", keys: keys + ["lock"]) else { return nil }
    guard fields["request"] != nil else {
      reading.wrong(
        node,
        "until waits for a request's answer or for the lock: {request: GET /status, expect: …} or {lock: unlocked}")
      return nil
    }
    return RequestReader(reading).judged(fields).map(UntilStep.Condition.request)
  }

  private func launch(_ node: YAMLNode) -> LaunchStep? {
    if node.isNull { return LaunchStep() }
    guard let fields = reading.fields(node, of: "launch", keys: ["arguments", "environment", "fresh"]) else {
      return nil
    }
    var step = LaunchStep()
    fields.set("arguments", &step.arguments, reading.texts)
    fields.set("environment", &step.environment) { environment($0) }
    fields.set("fresh", &step.fresh, reading.boolean)
    return step
  }

  private func environment(_ node: YAMLNode) -> [NamedText]? {
    guard let texts = RequestReader(reading).namedTexts(node, "environment") else { return nil }
    guard let odd = texts.first(where: { $0.name.isEmpty || $0.name.contains("=") }) else { return texts }
    reading.wrong(node, "'\(odd.name)' is no name of an environment variable")
    return nil
  }

  private func lock(_ node: YAMLNode, _ fields: Fields) -> Step.Action? {
    guard let state = lockState(node) else { return nil }
    return .lock(LockStep(state: state, within: fields["within"].flatMap(reading.positiveDuration)))
  }

  private func lockState(_ node: YAMLNode) -> LockState? {
    guard let text = reading.text(node) else { return nil }
    if let state = LockState(rawValue: text), state != .unknown { return state }
    reading.wrong(node, "'\(text)' is no state of the lock; write locked or unlocked")
    return nil
  }

  private func door(_ node: YAMLNode, _ fields: Fields) -> Step.Action? {
    guard let text = reading.text(node) else { return nil }
    guard text == "answers" || text == "silent" else {
      reading.wrong(node, "'\(text)' is nothing that the door does; write answers or silent")
      return nil
    }
    let within = fields["within"].flatMap(reading.positiveDuration)
    let throughout = fields["for"].flatMap(reading.positiveDuration)
    return .door(DoorStep(answers: text == "answers", within: within, throughout: throughout))
  }
}
