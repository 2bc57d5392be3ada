import Fleet

extension Reading {
  /// A mapping of this form: all its keys are known.
  func fields(_ node: YAMLNode, _ form: Form, later: (String) -> String? = { _ in nil }) -> Fields? {
    fields(node, of: form.what, keys: form.keys, later: later)
  }
}
