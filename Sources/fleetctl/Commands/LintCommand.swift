import Fleet
import Scenarios
import Wire

/// `fleetctl lint`: whether scenario files are right, without touching a phone.
enum LintCommand {
  static let spec = CommandSpec(
    name: "lint", summary: "check scenario files: file:line:column: sentence",
    positionals: [
      PositionalSpec(label: "FILE", help: "a scenario file, or a folder of them (else scenarios)", count: .any)
    ],
    later: ["schema"],
    notes: ["Exit codes: 0 nothing is wrong, 2 something is. With --json one object a problem."])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let given = context.invocation.all("FILE")
    let paths = given.isEmpty ? ["scenarios"] : given
    let scenarios: [Scenario]
    do throws(Problems) { scenarios = try ScenarioFile.load(paths) } catch {
      let count = error.list.count
      let complaint = Complaint(
        .usage,
        "\(count) problem\(count == 1 ? "" : "s") in the scenario files. The lines say where and what. "
          + "Correct them, then: fleetctl lint.")
      try context.tell(complaint) { () throws(Complaint) in try tell(error.list, context) }
      return .usage
    }
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
