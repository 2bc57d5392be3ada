/// Colour, or none. What is written stays the same otherwise.
struct Style: Equatable, Sendable {
  var isColoured: Bool

  static let plain = Style(isColoured: false)

  /// - Parameters:
  ///   - choice: --color's value; nil is auto.
  ///   - isTerminal: whether standard output is one.
  init(choice: String?, environment: Environment, isTerminal: Bool) {
    switch choice {
    case "always": isColoured = true
    case "never": isColoured = false
    default:
      let refused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
      isColoured = isTerminal && !refused && environment["TERM"] != "dumb"
    }
  }

  init(isColoured: Bool) { self.isColoured = isColoured }

  func good(_ text: String) -> String { paint(text, "32") }
  func bad(_ text: String) -> String { paint(text, "31") }
  func odd(_ text: String) -> String { paint(text, "33") }
  func faint(_ text: String) -> String { paint(text, "2") }

  private func paint(_ text: String, _ code: String) -> String {
    isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}
