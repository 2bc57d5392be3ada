import VirtualPhone
import Wire
import Fleet

/// `fleetctl virtual do`: makes something happen to a virtual phone.
enum VirtualDoCommand {
  static let spec = CommandSpec(
    name: "virtual do", summary: "make something happen to a virtual phone: lock, reboot, kill-app …",
    positionals: [
      PositionalSpec(
        label: "PHONE", help: "its number from 1, its name, its UDID or an unambiguous start of that",
        count: .optional, isBody: true),
      PositionalSpec(label: "ACTION", help: "what happens; --list names them all", count: .optional),
      PositionalSpec(label: "KEY=VALUE", help: "how it happens", count: .any),
    ],
    options: [VirtualControl.option, .flag("list", "list the actions and their keys, and end")])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let invocation = context.invocation
    if invocation.has("list") { return try list(context) }
    let (phone, action) = (invocation.one("PHONE"), invocation.one("ACTION"))
    guard !phone.isEmpty, !action.isEmpty else {
      throw Complaint(.missingArgument(phone.isEmpty ? "PHONE" : "ACTION", command: spec.name))
    }
    let values = try context.usage { () throws(UsageError) in try keys(invocation) }
    try perform(action, on: phone, values, with: try VirtualControl.client(context))
    return .done
  }

  private static func keys(_ invocation: Invocation) throws(UsageError) -> [String: String] {
    var keys: [String: String] = [:]
    for text in invocation.all("KEY=VALUE") {
      guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
        throw .contradiction("'\(text.printable)' is no KEY=VALUE. What an action takes has both.", command: spec.name)
      }
      guard keys.updateValue(String(text[text.index(after: equals)...]), forKey: String(text[..<equals])) == nil else {
        throw .contradiction("'\(text[..<equals])' was given twice. Each key can stand once.", command: spec.name)
      }
    }
    return keys
  }

  private static func perform(
    _ action: String, on phone: String, _ values: [String: String], with client: ControlClient
  ) throws(Complaint) {
    let known: [ControlClient.Action]
    do { known = try client.actions() } catch { throw Complaint(.harness, error.sentence) }
    guard known.contains(where: { $0.name == action }) else {
      let near = NearestWord.to(action, among: known.map(\.name)).map { "Did you mean '\($0)'?" }
      throw Complaint(
        .usage,
        "There is no action '\(action.printable)'. \(near ?? "It may be mistyped.") "
          + "See them all: fleetctl virtual do --list.")
    }
    do { try client.perform(action, on: phone, values) } catch { throw Complaint(.usage, error.sentence) }
  }

  private static func list(_ context: Context) throws(Complaint) -> ExitCode {
    let actions = ControlClient.Action.all
    if context.wantsJSON {
      for action in actions {
        try context.output.result([
          "action": .string(action.name), "summary": .string(action.summary),
          "keys": .array(action.keys.map { .string($0) }),
        ])
      }
    } else {
      var table = Table()
      for action in actions { table.add([action.name, action.keys.joined(separator: " "), action.summary]) }
      try context.output.results(table.lines)
    }
    return .done
  }
}
