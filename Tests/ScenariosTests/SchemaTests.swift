import Fleet
import Testing
import Wire

@testable import Scenarios

/// As much of JSON Schema as the project's own schema uses.
private struct Validator {
  let root: JSON

  func takes(_ value: JSON, _ given: JSON) -> Bool {
    let schema = resolved(given)
    if let options = schema["anyOf"]?.array, !options.contains(where: { takes(value, $0) }) { return false }
    if let words = schema["enum"]?.array, !words.contains(value) { return false }
    if let type = schema["type"], !(type.array ?? [type]).contains(where: { Self.isOf($0.string, value) }) {
      return false
    }
    if let pattern = schema["pattern"]?.string, let text = value.string,
      let regex = try? Regex(pattern), !text.contains(regex)
    {
      return false
    }
    if let least = schema["minimum"]?.int, let number = value.int, number < least { return false }
    if let most = schema["maximum"]?.int, let number = value.int, number > most { return false }
    if let items = value.array {
      if let least = schema["minItems"]?.int, items.count < least { return false }
      if let item = schema["items"], !items.allSatisfy({ takes($0, item) }) { return false }
    }
    if let object = value.object { return takes(object, schema) }
    return true
  }

  private func takes(_ object: [String: JSON], _ schema: JSON) -> Bool {
    let properties = schema["properties"]?.object ?? [:]
    if let least = schema["minProperties"]?.int, object.count < least { return false }
    let required = schema["required"]?.array ?? []
    guard required.allSatisfy({ object[$0.string ?? ""] != nil }) else { return false }
    return object.allSatisfy { key, value in
      if let property = properties[key] { return takes(value, property) }
      switch schema["additionalProperties"] {
      case .boolean(false)?: return false
      case let other?: return takes(value, other)
      case nil: return true
      }
    }
  }

  private func resolved(_ schema: JSON) -> JSON {
    guard let path = schema["$ref"]?.string else { return schema }
    return path.split(separator: "/").dropFirst().reduce(root) { $0[String($1)] ?? .null }
  }

  private static func isOf(_ type: String?, _ value: JSON) -> Bool {
    switch (type, value) {
    case ("string", .string), ("boolean", .boolean), ("object", .object), ("array", .array), ("null", .null),
      ("integer", .integer), ("number", .integer), ("number", .number):
      true
    default: false
    }
  }
}

@Suite struct `the JSON Schema of scenario files` {
  private let schema = ScenarioSchema.value

  /// A file as an editor reads it.
  private func value(_ bytes: [UInt8]) throws -> JSON {
    let reading = Reading(file: "f")
    return try #require(reading.json(try YAMLDocument.parse(bytes, file: "f")))
  }

  private func takes(_ text: String) throws -> Bool {
    Validator(root: schema).takes(try value(Array(text.utf8)), schema)
  }

  @Test func `takes what lint takes: the shipped scenarios and the examples of the documentation`() throws {
    for path in try ScenarioFolder.files(at: "\(ProjectFile.root)/scenarios") {
      let text = String(decoding: try Files.host.read(path, 1 << 20), as: UTF8.self)
      #expect(try takes(text), "\(path)")
    }
    for block in FencedBlock.all(in: try ProjectFile.text("docs/scenarios.md"), of: "yaml")
    where !block.text.hasPrefix("# fleet.yaml") {
      let steps = block.text.split(separator: "\n").map { "  \($0)\n" }.joined()
      let text = block.text.hasPrefix("scenario:") ? block.text : "scenario: x\nsteps:\n\(steps)"
      #expect(try takes(text), "\(block)")
    }
  }

  @Test(arguments: [
    "misspelt-key", "misspelt-step", "misspelt-state", "no-steps", "yes-for-true", "no-unit", "no-path", "two-in-one",
    "within-on-request", "quarantine-without-reason", "list-for-mapping", "outcome-that-is-none",
  ])
  func `refuses a mistake of form`(_ name: String) throws {
    #expect(try !takes(try ProjectFile.text("Tests/ScenariosTests/mistakes/\(name).yaml")))
  }

  @Test func `takes a name in braces wherever a value is wanted`() throws {
    #expect(
      try takes(
        "scenario: x\nsteps:\n  - for-each: {n: [1]}\n    steps:\n      - {wait: '{n}s'}\n      - {request: GET /, expect: {status: '{n}'}}\n"
      ))
  }

  @Test func `is printed with keys in order, and reads back`() {
    let text = ScenarioSchema.text

    #expect(JSON(parsing: Array(text.utf8)) == schema)
    #expect(text.hasPrefix("{\n  \"$defs\": {"))
  }
}
