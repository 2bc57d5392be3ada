import Fleet
import Scenarios
import Wire

/// `fleetctl lint`: whether scenario files are right, without touching a phone.
enum LintCommand {
  static let spec = CommandSpec(
    name: "lint", summary: "check scenario files: file:line:column: sentence",
    positionals: [
      PositionalSpec(label: "FILE|DIR", help: "scenario files, or folders of them (else scenarios)", count: .any)
    ],
    options: [.flag("schema", "print the JSON Schema of scenario files, for editors"), RunRules.variable],
    notes: [
      "Exit codes: 0 nothing is wrong, 2 something is. With --json one object a problem.",
      "An editor that knows YAML schemas checks while you write: fleetctl lint --schema > scenario.schema.json.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    if context.invocation.has("schema") {
      try context.output.result(ScenarioSchema.text)
      return .done
    }
    let variables = try context.usage { () throws(UsageError) in try RunRules.variables(context.invocation) }
    let given = context.invocation.all("FILE|DIR")
    let paths = given.isEmpty ? ["scenarios"] : given
    let scenarios: [Scenario]
    do throws(Problems) { scenarios = try ScenarioFile.load(paths, variables: variables) } catch {
      let count = error.list.count
      let complaint = Complaint(
        .usage,
        "\(count) problem\(count == 1 ? "" : "s") in the scenario files. The lines say where and what. "
          + "Correct them, then: fleetctl lint.")
      try context.tell(complaint) { () throws(Complaint) in try tell(error.list, context) }
      return .usage
    }
    for notice in scenarios.compactMap(\.quarantineNotice) { context.output.say(notice.printable) }
    if !context.wantsJSON {
      try context.output.result("\(scenarios.count) scenario\(scenarios.count == 1 ? "" : "s"), nothing wrong")
    }
    return .done
  }

  private static func tell(_ problems: [Problem], _ context: Context) throws(Complaint) {
    try context.output.results(
      problems.map { problem in
        guard context.wantsJSON else { return problem.description.printable }
        let object: JSON = [
          "file": .string(problem.file), "line": Self.place(problem.line), "column": Self.place(problem.column),
          "sentence": .string(problem.sentence),
        ]
        return object.line
      })
  }

  /// A place counts from 1; the file as a whole has none.
  private static func place(_ number: Int) -> JSON { number > 0 ? .integer(Int64(number)) : .null }
}
