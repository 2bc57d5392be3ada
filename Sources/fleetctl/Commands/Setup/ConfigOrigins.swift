import Fleet

/// Where fleet.yaml's values stand.
struct ConfigOrigins: Sendable {
  static let byDefault = "default"

  var file: String?
  /// The file's outermost node.
  var root: YAMLNode?

  /// `file:line` of the value at the end of a path of keys; `default` where the file does not say it.
  func origin(of path: [String]) -> String { root.flatMap { origin(of: path, in: $0) } ?? Self.byDefault }

  /// - Returns: nil where the node does not say it.
  func origin(of path: [String], in node: YAMLNode) -> String? {
    var node = node
    for key in path {
      // A word that stands for a whole section, such as hands: none, decides all that is in it.
      guard case .mapping = node.value else { break }
      guard let inner = node[key] else { return nil }
      node = inner
    }
    return origin(of: node)
  }

  func origin(of node: YAMLNode) -> String { "\(file ?? "fleet.yaml"):\(node.line)" }

  /// The entries of `bodies`, in the file's order.
  var bodies: [YAMLNode] {
    guard case .sequence(let items) = root?["bodies"]?.value else { return [] }
    return items
  }
}
