extension FileTree {
  /// Where a path leads, or would lead if its last part existed.
  struct Place {
    /// Folders from the root down to the one that holds the name.
    let trail: [Number]
    /// Nil for the root, and for a path that ends in `..`: what it leads to cannot be named there.
    let name: String?
    /// What is there now.
    let node: Number?

    var folder: Number { trail.last ?? FileTree.root }
  }

  /// Links that one path may lead through.
  private static let linkLimit = 16

  /// - Throws: `objectNotFound` when a folder on the way is missing, `invalidArgument` for what is no path.
  func place(of path: String, followsLast: Bool = true) throws(AFCCode) -> Place {
    var waiting = Array(try Self.parts(of: path).reversed())
    var trail = [Self.root]
    var followed = 0
    while let part = waiting.popLast() {
      if part == ".." {
        if trail.count > 1 { trail.removeLast() }
        continue
      }
      let isLast = waiting.isEmpty
      guard let number = nodes[trail[trail.count - 1]]?.children[part], let node = nodes[number] else {
        guard isLast else { throw .objectNotFound }
        return Place(trail: trail, name: part, node: nil)
      }
      switch node.kind {
      case .link where !isLast || followsLast:
        followed += 1
        guard followed <= Self.linkLimit else { throw .objectNotFound }
        if node.target.hasPrefix("/") { trail = [Self.root] }
        waiting += try Self.parts(of: node.target).reversed()
      case .folder where !isLast: trail.append(number)
      case .file, .folder, .link:
        guard isLast else { throw .objectNotFound }
        return Place(trail: trail, name: part, node: number)
      }
    }
    return Place(trail: Array(trail.dropLast()), name: nil, node: trail[trail.count - 1])
  }

  /// The names that a path goes through, without empty ones and `.`.
  static func parts(of path: String) throws(AFCCode) -> [String] {
    guard path.utf8.count <= pathLimit, !path.utf8.contains(0) else { throw .invalidArgument }
    let parts = path.split(separator: "/").filter { $0 != "." }.map(String.init)
    guard parts.allSatisfy({ $0.utf8.count <= nameLimit }) else { throw .invalidArgument }
    return parts
  }
}
