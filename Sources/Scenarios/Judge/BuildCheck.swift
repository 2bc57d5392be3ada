import DeviceBridge
import Fleet
import Wire

/// Holds an installed build's Info dictionary against what was expected of it.
struct BuildCheck {
  let step: AppStep

  init(_ step: AppStep) { self.step = step }

  func result(_ app: InstalledApp) -> StepResult {
    let build = [app.version, app.build.map { "(\($0))" }].compactMap { $0 }.joined(separator: " ")
    let name = "\(app.bundle) \(build)"
    var expected: [String] = []
    var came: [String] = []
    for key in step.absent where app.info[key] != nil {
      expected.append("no \(key)")
      came.append("\(key) is \(Self.text(app.info[key]))")
    }
    for key in step.present where app.info[key] == nil {
      expected.append(key)
      came.append("no \(key)")
    }
    for entry in step.contains where app.info[entry.name].map({ !Self.text($0).contains(entry.text) }) ?? true {
      expected.append("\(entry.name) containing '\(entry.text)'")
      came.append("\(entry.name) is \(Self.text(app.info[entry.name]))")
    }
    if expected.isEmpty { return .held(came: name) }
    return .failed(expected: expected.joined(separator: ", "), came: "\(came.joined(separator: ", ")) in \(name)")
  }

  private static func text(_ value: Plist?) -> String {
    guard let value else { return "absent" }
    if let text = value.string { return AnswerText.visible(String(text.prefix(200))) }
    if let items = value.array { return "[\(items.prefix(20).map { text($0) }.joined(separator: ", "))]" }
    return AnswerText.visible(String("\(value)".prefix(200)))
  }
}
