import Fleet
import Wire

/// The JSON Schema of scenario files, for editors: made of the forms that the readers read by.
///
/// It cannot say everything that `lint` does (names in braces, what is started and never finished), and it never refuses
/// what `lint` takes.
public enum ScenarioSchema {
  /// As a file; keys in a fixed order.
  public static var text: String { Self.pretty(value, indent: "") }

  /// - Source: JSON Schema, draft 2020-12.
  public static var value: JSON {
    var root = form(Forms.scenario).object ?? [:]
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    root["title"] = "A scenario of fleetctl"
    root["$defs"] = [
      "steps": ["type": "array", "minItems": 1, "items": ["$ref": "#/$defs/step"]],
      "step": ["anyOf": .array(StepKind.allCases.map(step))],
    ]
    return .object(root)
  }

  private static func step(_ kind: StepKind) -> JSON {
    var step = form(kind.form).object ?? [:]
    step["title"] = .string(kind.rawValue)
    step["description"] = .text(kind.form.fields.first?.about)
    return .object(step)
  }

  private static func form(_ form: Form) -> JSON {
    var properties: [String: JSON] = [:]
    for field in form.fields {
      var shape = shape(field.shape).object ?? [:]
      shape["description"] = .string(field.about)
      properties[field.key] = .object(shape)
    }
    var object: [String: JSON] = [
      "type": "object", "properties": .object(properties), "additionalProperties": false,
    ]
    let required = form.fields.filter(\.isRequired).map { JSON.string($0.key) }
    if !required.isEmpty { object["required"] = .array(required) }
    if form.isNeverEmpty { object["minProperties"] = 1 }
    return .object(object)
  }

  private static func shape(_ shape: Shape) -> JSON {
    switch shape {
    // What YAML reads as a number or a truth value is a text all the same where a text is wanted.
    case .text: ["type": ["string", "number", "boolean"]]
    case .request: ["type": "string", "pattern": "^(\\{|[A-Z-]+ (/|\\{))"]
    case .words(let words): filled(["enum": .array(words.map(JSON.string))])
    case .flag: filled(["type": "boolean"])
    case .whole(let range):
      filled(
        range.upperBound == Int.max
          ? ["type": "integer", "minimum": .integer(Int64(range.lowerBound))]
          : [
            "type": "integer", "minimum": .integer(Int64(range.lowerBound)),
            "maximum": .integer(Int64(range.upperBound)),
          ])
    case .duration: ["type": "string", "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h|d)|.*\\{.*)$"]
    case .day: ["type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"]
    case .value: [:]
    case .list(let item): ["type": "array", "items": self.shape(item)]
    case .names(let value): ["type": "object", "additionalProperties": self.shape(value)]
    case .form(let form): self.form(form)
    case .either(let shapes): ["anyOf": .array(shapes.map { self.shape($0) })]
    case .steps: ["$ref": "#/$defs/steps"]
    case .nothing: ["type": "null"]
    }
  }

  /// A value that a name in braces may stand for.
  private static func filled(_ shape: JSON) -> JSON {
    ["anyOf": [shape, ["type": "string", "pattern": "^\\{[A-Za-z][A-Za-z0-9_-]*\\}$"]]]
  }

  private static func pretty(_ value: JSON, indent: String) -> String {
    let inner = indent + "  "
    if let object = value.object, !object.isEmpty {
      let lines = object.keys.sorted().map { key in
        "\(inner)\(JSON.string(key).line): \(pretty(object[key] ?? .null, indent: inner))"
      }
      return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
    }
    if let items = value.array, !items.isEmpty {
      return "[\n\(items.map { inner + pretty($0, indent: inner) }.joined(separator: ",\n"))\n\(indent)]"
    }
    return value.line
  }
}
