import Fleet
import Wire

/// A list of steps, those of `repeat` and `for-each` in it written out.
struct StepListReader {
  let reading: Reading
  /// Names of started requests that are under way around the list.
  var under: Set<String> = []
  /// What names around it stand for; in its nodes they are filled in already.
  var names: [String: String] = [:]

  /// Steps that a list may come to once it is written out.
  static let limit = 5_000

  func steps(_ node: YAMLNode, of list: String) -> [Step]? {
    guard case .sequence(let items) = node.value else {
      reading.wrong(node, "\(list) is a list of steps, not \(node.kind)")
      return nil
    }
    if items.isEmpty {
      reading.wrong(node, "\(list) is empty; it needs at least one step")
      return nil
    }
    var pairs = StartedRequests(reading, under: under)
    var isWhole = true
    var all: [Step] = []
    for item in items {
      guard let steps = StepReader(reading: reading, under: under.union(pairs.open), names: names).steps(item) else {
        isWhole = false
        continue
      }
      // What stands inside is whole in itself.
      if StepReader.isPlain(item), let step = steps.first { pairs.take(step, at: item) }
      all += steps
      guard all.count <= Self.limit else {
        reading.wrong(item, "the steps come to more than \(Self.limit), those that are repeated counted each time")
        return nil
      }
    }
    if isWhole { pairs.finish() }
    return all
  }

  func repeated(_ node: YAMLNode, _ fields: Fields) -> [Step]? {
    let count = reading.integer(node, in: 1...1_000)
    let once = fields.required("steps") { self.steps($0, of: "steps") }
    guard let count, let once else { return nil }
    guard count * once.count <= Self.limit else {
      reading.wrong(node, "\(count) times \(once.count) steps are more than \(Self.limit)")
      return nil
    }
    return (0..<count).flatMap { _ in once }
  }

  func forEach(_ node: YAMLNode, _ fields: Fields) -> [Step]? {
    let rows = combinations(node)
    guard let list = fields.required("steps", { $0 }), let rows else { return nil }
    var all: [Step] = []
    var isWhole = true
    for row in rows {
      let inner = StepListReader(
        reading: reading, under: under, names: names.merging(row.mapValues(\.text)) { $1 })
      guard let steps = inner.steps(Substitution(reading: reading, values: row)(list), of: "steps") else {
        isWhole = false
        continue
      }
      all += steps
      guard all.count <= Self.limit else {
        reading.wrong(node, "the steps come to more than \(Self.limit), those for each value counted each time")
        return nil
      }
    }
    return isWhole ? all : nil
  }

  /// Each value of the first name with each of the second, and so on.
  private func combinations(_ node: YAMLNode) -> [[String: Substitution.Value]]? {
    guard case .mapping(let entries) = node.value, !entries.isEmpty else {
      reading.wrong(
        node, "for-each is a mapping of names and lists of values: {camera: [front, back]}, not \(node.kind)")
      return nil
    }
    var rows: [[String: Substitution.Value]] = [[:]]
    var isWhole = true
    for entry in entries {
      if !Self.isName(entry.key) || Reading.namesInTexts.contains(entry.key) {
        let why = Self.isName(entry.key) ? "has a meaning already" : "is no name that can stand in braces"
        reading.wrong(line: entry.keyLine, column: entry.keyColumn, "'\(entry.key)' \(why); call it something else")
        isWhole = false
      }
      guard let texts = reading.texts(entry.value), case .sequence(let items) = entry.value.value else {
        isWhole = false
        continue
      }
      let values = zip(texts, items).map { text, item in
        if case .scalar(_, plain: true) = item.value { return Substitution.Value(text: text, plain: true) }
        return Substitution.Value(text: text, plain: false)
      }
      if values.isEmpty {
        reading.wrong(entry.value, "'\(entry.key)' has no values; the steps would not be run at all")
        isWhole = false
      }
      guard rows.count * values.count <= Self.limit else {
        reading.wrong(node, "for-each makes more than \(Self.limit) combinations")
        return nil
      }
      rows = rows.flatMap { row in values.map { value in row.merging([entry.key: value]) { $1 } } }
    }
    return isWhole ? rows : nil
  }

  /// Whether `{name}` is taken for a name in a text.
  static func isName(_ text: String) -> Bool { Placeholders.names(in: "{\(text)}") == [text] }
}

extension StepReader {
  /// Whether a step is one step, and not a list of others.
  static func isPlain(_ node: YAMLNode) -> Bool {
    node[StepKind.repeatSteps.rawValue] == nil && node[StepKind.forEach.rawValue] == nil
  }
}

/// Requests that run beside the steps: each is started, and then finished in the same list.
private struct StartedRequests {
  private let reading: Reading
  /// Under way around the list.
  private let under: Set<String>
  private var started: [String: YAMLNode] = [:]
  private var finished: Set<String> = []

  init(_ reading: Reading, under: Set<String>) {
    self.reading = reading
    self.under = under
  }

  /// Names of those under way.
  var open: Set<String> { Set(started.keys) }

  mutating func take(_ step: Step, at node: YAMLNode) {
    switch step.action {
    case .start(let name, _):
      if started[name] != nil || under.contains(name) {
        reading.wrong(node, "a request called '\(name)' is under way already; each needs a name of its own")
      }
      started[name] = node
      finished.remove(name)
    case .finish(let name, _):
      if started.removeValue(forKey: name) != nil {
        finished.insert(name)
      } else if finished.contains(name) {
        reading.wrong(node, "'\(name)' was finished already")
      } else if under.contains(name) {
        reading.wrong(node, "'\(name)' was started outside of these steps; finish it where it was started")
      } else {
        let near = NearestWord.to(name, among: Array(started.keys)).map { "; '\($0)' is meant?" } ?? ""
        reading.wrong(node, "nothing called '\(name)' was started before\(near)")
      }
    case .arrange, .request, .until, .launch, .revive, .lock, .door, .ready, .app, .files, .screen, .log, .wait,
      .person, .command:
      break
    }
  }

  func finish() {
    for (name, node) in started { reading.wrong(node, "'\(name)' is started and never finished; add: finish: \(name)") }
  }
}
