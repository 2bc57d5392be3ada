import DeviceBridge
import Fleet
import Wire

/// One step's node into the steps that it stands for: one, or those that a `repeat` or `for-each` runs.
struct StepReader {
  let reading: Reading
  /// Names of started requests that are under way around it.
  let under: Set<String>
  /// What names around it stand for.
  let names: [String: String]

  func steps(_ node: YAMLNode) -> [Step]? {
    guard case .mapping(let entries) = node.value else {
      reading.wrong(node, "a step is a mapping such as 'request: GET /hello', not \(node.kind)")
      return nil
    }
    guard let (kind, entry) = kind(of: entries, node) else { return nil }
    let form = kind.form
    let fields = reading.fields(node, form) { key in
      Self.everyKey.contains(key) ? "'\(key)' does not go with '\(kind.rawValue)'" : nil
    }
    guard let fields else { return nil }
    let lists = StepListReader(reading: reading, under: under, names: names)
    switch kind {
    case .repeatSteps: return lists.repeated(entry.value, fields)
    case .forEach: return lists.forEach(entry.value, fields)
    case .arrange, .request, .start, .finish, .until, .launch, .revive, .lock, .door, .ready, .app, .files, .screen,
      .log,
      .wait, .person, .command:
      return action(kind, entry.value, fields).map {
        [Step(line: node.line, column: node.column, action: $0, names: names)]
      }
    }
  }

  private static let everyKey = Set(StepKind.allCases.flatMap(\.form.keys))

  private func kind(of entries: [YAMLNode.Entry], _ node: YAMLNode) -> (StepKind, YAMLNode.Entry)? {
    let kinds = entries.compactMap { entry in StepKind(rawValue: entry.key).map { ($0, entry) } }
    if let start = kinds.first(where: { $0.0 == .start }) { return start }
    if let first = kinds.first { return first }
    let words = StepKind.allCases.map(\.rawValue)
    guard let entry = entries.first else {
      reading.wrong(node, "a step is empty; it does one of: \(words.joined(separator: ", "))")
      return nil
    }
    let near = NearestWord.to(entry.key, among: words)
    let hint = near.map { "'\($0)' is meant?" } ?? "a step does one of: \(words.joined(separator: ", "))"
    reading.wrong(line: entry.keyLine, column: entry.keyColumn, "'\(entry.key)' is no step; \(hint)")
    return nil
  }

  private func action(_ kind: StepKind, _ node: YAMLNode, _ fields: Fields) -> Step.Action? {
    let looks = LookReader(reading: reading)
    return switch kind {
    case .arrange: reading.word(node, as: BodyState.self).map(Step.Action.arrange)
    case .request: RequestReader(reading).judged(fields).map(Step.Action.request)
    case .start: start(node, fields)
    case .finish: finish(node, fields)
    case .until: until(node, fields)
    case .launch: launch(node).map(Step.Action.launch)
    case .revive: looks.revive(node).map(Step.Action.revive)
    case .lock: lock(node, fields)
    case .door: door(node, fields)
    case .ready: looks.ready(node, fields).map(Step.Action.ready)
    case .app: looks.app(node).map(Step.Action.app)
    case .files: looks.files(node, fields).map(Step.Action.files)
    case .screen: looks.screen(node, fields).map(Step.Action.screen)
    case .log: looks.log(node, fields).map(Step.Action.log)
    case .wait: reading.duration(node).map(Step.Action.wait)
    case .person: person(node, fields).map(Step.Action.person)
    case .command: command(node, fields).map(Step.Action.command)
    case .repeatSteps, .forEach: nil
    }
  }

  private func start(_ node: YAMLNode, _ fields: Fields) -> Step.Action? {
    let name = reading.text(node)
    _ = fields.required("request") { $0 }
    let request = RequestReader(reading).request(fields)
    guard let name, let request else { return nil }
    return .start(name: name, request)
  }

  private func finish(_ node: YAMLNode, _ fields: Fields) -> Step.Action? {
    let name = reading.text(node)
    let expectation = fields["expect"].map { ExpectationReader(reading).expectation($0) } ?? Expectation()
    guard let name, let expectation else { return nil }
    return .finish(name: name, expectation)
  }

  private func until(_ node: YAMLNode, _ fields: Fields) -> Step.Action? {
    let within = fields.required("within", reading.positiveDuration)
    let every = fields["every"].map(reading.positiveDuration) ?? .milliseconds(200)
    guard let condition = condition(node), let within, let every else { return nil }
    return .until(UntilStep(condition: condition, within: within, every: every))
  }

  private func condition(_ node: YAMLNode) -> UntilStep.Condition? {
    if node["lock"] != nil {
      guard let fields = reading.fields(node, StepKind.untilLock) else { return nil }
      return fields["lock"].flatMap(lockState).map(UntilStep.Condition.lock)
    }
    let form = StepKind.untilRequest
    guard let fields = reading.fields(node, of: form.what, keys: form.keys + ["lock"]) else { return nil }
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
    guard let fields = reading.fields(node, StepKind.launchForm) else { return nil }
    var step = LaunchStep()
    fields.set("arguments", &step.arguments, reading.filledTexts)
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

  private func person(_ node: YAMLNode, _ fields: Fields) -> OperatorStep? {
    guard let sentence = reading.filledText(node) else { return nil }
    var step = OperatorStep(sentence: sentence)
    fields.set("deadline", &step.deadline, reading.positiveDuration)
    return step
  }

  private func command(_ node: YAMLNode, _ fields: Fields) -> CommandStep? {
    guard let argv = reading.filledTexts(node) else { return nil }
    guard argv.first?.isEmpty == false, !argv.contains(where: { $0.utf8.contains(0) }) else {
      reading.wrong(node, "a command is a list of the program and its arguments: [program, argument]")
      return nil
    }
    var step = CommandStep(argv: argv)
    fields.set("deadline", &step.deadline, reading.positiveDuration)
    return step
  }
}
