extension FileTree {
  /// Makes a folder, with those above it that are missing; one that is there already is as good.
  mutating func makeFolder(_ path: String) throws(AFCCode) {
    var way = ""
    for part in try Self.parts(of: path) {
      way += "/" + part
      let place = try place(of: way)
      if let number = place.node {
        guard nodes[number]?.kind == .folder else { throw .objectExists }
      } else if let name = place.name {
        let folder = try add(Node(kind: .folder, links: 2, born: Self.now, modified: Self.now))
        attach(folder, as: name, in: place.folder)
      }
    }
  }

  /// The file at a path, made where there is none.
  ///
  /// - Parameter truncates: an old one loses its bytes.
  mutating func openFile(_ path: String, creates: Bool, truncates: Bool) throws(AFCCode) -> Number {
    let place = try place(of: path)
    guard let number = place.node else {
      guard creates, let name = place.name else { throw .objectNotFound }
      let file = try add(Node(kind: .file, born: Self.now, modified: Self.now))
      attach(file, as: name, in: place.folder)
      return file
    }
    guard nodes[number]?.kind == .file else { throw .objectIsFolder }
    if truncates { try resize(number, to: 0) }
    return number
  }

  /// Puts a whole file there, as the phone itself does; folders above it are made.
  ///
  /// - Parameters:
  ///   - hollow: so many bytes more, which are only counted.
  ///   - moment: when it was made and changed, in nanoseconds since 1970; now if not given.
  mutating func put(_ path: String, _ bytes: [UInt8], hollow: Int = 0, at moment: Int64? = nil) throws(AFCCode) {
    try makeFolder(path.split(separator: "/").dropLast().joined(separator: "/"))
    let number = try openFile(path, creates: true, truncates: true)
    try write(number, at: 0, bytes)
    nodes[number]?.hollow = hollow
    guard let moment else { return }
    nodes[number]?.born = moment
    nodes[number]?.modified = moment
  }

  /// - Throws: `unknownError` for a folder that is not empty: the phone has no better word.
  mutating func remove(_ path: String) throws(AFCCode) {
    let place = try place(of: path, followsLast: false)
    guard let number = place.node, let node = nodes[number] else { throw .objectNotFound }
    guard let name = place.name else { throw .permissionDenied }
    guard node.children.isEmpty else { throw .unknownError }
    detach(name, from: place.folder)
  }

  mutating func removeWithContents(_ path: String) throws(AFCCode) {
    let place = try place(of: path, followsLast: false)
    guard place.node != nil else { throw .objectNotFound }
    guard let name = place.name else { throw .permissionDenied }
    detach(name, from: place.folder)
  }

  mutating func rename(_ path: String, to newPath: String) throws(AFCCode) {
    let from = try place(of: path, followsLast: false)
    let to = try place(of: newPath, followsLast: false)
    guard let number = from.node, let node = nodes[number] else { throw .objectNotFound }
    guard let oldName = from.name, let newName = to.name else { throw .permissionDenied }
    // A folder cannot go into itself.
    guard !to.trail.contains(number) else { throw .invalidArgument }
    if let there = to.node, let old = nodes[there] {
      if there == number { return }
      guard old.kind != .folder || (node.kind == .folder && old.children.isEmpty) else { throw .objectExists }
      guard node.kind != .folder || old.kind == .folder else { throw .objectExists }
      detach(newName, from: to.folder)
    }
    nodes[from.folder]?.children[oldName] = nil
    nodes[from.folder]?.modified = Self.now
    attach(number, as: newName, in: to.folder)
  }

  /// - Parameter symbolic: a name for a path, which may lead nowhere; otherwise a second name for a file.
  mutating func makeLink(_ path: String, to target: String, symbolic: Bool) throws(AFCCode) {
    let place = try place(of: path, followsLast: false)
    guard place.node == nil, let name = place.name else { throw .objectExists }
    _ = try Self.parts(of: target)
    if symbolic {
      let link = try add(Node(kind: .link, target: target, born: Self.now, modified: Self.now))
      return attach(link, as: name, in: place.folder)
    }
    let number = try number(of: target)
    guard nodes[number]?.kind == .file else { throw .permissionDenied }
    nodes[number]?.links += 1
    attach(number, as: name, in: place.folder)
  }

  mutating func setModified(_ path: String, to moment: Int64) throws(AFCCode) {
    nodes[try number(of: path)]?.modified = moment
  }

  // MARK: Names

  private mutating func attach(_ number: Number, as name: String, in folder: Number) {
    nodes[folder]?.children[name] = number
    nodes[folder]?.modified = Self.now
  }

  /// Takes a name away, and with it what only it led to; step by step, since a tree may be deeper than a stack.
  private mutating func detach(_ name: String, from folder: Number) {
    guard let first = nodes[folder]?.children.removeValue(forKey: name) else { return }
    nodes[folder]?.modified = Self.now
    var waiting = [first]
    while let number = waiting.popLast() {
      guard let node = nodes[number] else { continue }
      if node.kind == .folder {
        waiting += node.children.values
        nodes[number]?.children = [:]
        nodes[number]?.links = 0
      } else {
        nodes[number]?.links -= 1
      }
      forgetIfUnused(number)
    }
  }
}
