/// What a field of a scenario file takes.
///
/// The forms made of these are the one description of the language: the readers take their keys from it, and the JSON
/// Schema for editors is made of it.
indirect enum Shape: Sendable {
  /// Characters as they are written: `NO`, `010` and `1e3` stay what they are.
  case text
  /// `METHOD PATH`.
  case request
  case words([String])
  case flag
  case whole(ClosedRange<Int>)
  case duration
  case day
  /// A value of any shape, under YAML's core schema.
  case value
  case list(Shape)
  /// A mapping with names of the author's own.
  case names(Shape)
  case form(Form)
  case either([Shape])
  /// A list of steps.
  case steps
  /// Nothing at all, as behind `launch:`.
  case nothing
}

/// One key of a form.
struct Field: Sendable {
  var key: String
  var shape: Shape
  var isRequired = false
  /// For editors: a sentence on what it says.
  var about: String

  static func required(_ key: String, _ shape: Shape, _ about: String) -> Field {
    Field(key: key, shape: shape, isRequired: true, about: about)
  }

  static func optional(_ key: String, _ shape: Shape, _ about: String) -> Field {
    Field(key: key, shape: shape, about: about)
  }
}

/// A mapping whose keys are known.
struct Form: Sendable {
  /// What it is, for sentences: `a scenario`.
  var what: String
  var fields: [Field]
  /// None of the keys is required, and yet it must not be empty.
  var isNeverEmpty = false

  init(_ what: String, isNeverEmpty: Bool = false, _ fields: [Field]) {
    self.what = what
    self.fields = fields
    self.isNeverEmpty = isNeverEmpty
  }

  var keys: [String] { fields.map(\.key) }
}
