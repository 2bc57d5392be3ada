/// A folder tree that exists in memory only, as AFC shows one. Its bytes and entries are bounded.
///
/// Paths begin at the tree's root, with or without a slash; `..` never leads out of it.
struct FileTree: Sendable {
  /// A file, folder or link; several names may lead to the same file.
  typealias Number = Int

  enum Kind: Equatable, Sendable { case file, folder, link }

  struct Node: Sendable {
    let kind: Kind
    var bytes: [UInt8] = []
    /// Bytes behind `bytes` that are counted and read as zeros, and are kept nowhere.
    var hollow = 0
    /// Of a folder, by name.
    var children: [String: Number] = [:]
    /// Of a link: where it leads.
    var target = ""
    var links = 1
    /// Handles that keep a file alive which no name leads to any more.
    var handles = 0
    /// Nanoseconds since 1970.
    var born: Int64
    var modified: Int64

    var size: Int { bytes.count + hollow }
  }

  static let root: Number = 0
  /// A path's and a name's longest form, in UTF-8.
  static let pathLimit = 1024
  static let nameLimit = 255

  /// Bytes that the tree may hold, and how many entries.
  let capacity: (bytes: Int, entries: Int)
  var used = 0
  var nodes: [Number: Node] = [:]
  private var last = FileTree.root

  init(bytes: Int = 64 << 20, entries: Int = 10_000) {
    capacity = (bytes, entries)
    nodes[Self.root] = Node(kind: .folder, links: 2, born: Self.now, modified: Self.now)
  }

  static var now: Int64 { WallTime.now().milliseconds * 1_000_000 }

  // MARK: Looking

  /// Names in a folder, sorted, with `.` and `..` before them.
  func names(in path: String) throws(AFCCode) -> [String] {
    let place = try place(of: path)
    guard let number = place.node, let node = nodes[number] else { throw .objectNotFound }
    // A file has no names in it; the phone reads nothing.
    guard node.kind == .folder else { throw .readError }
    return [".", ".."] + node.children.keys.sorted()
  }

  /// The node that a path leads to.
  ///
  /// - Parameter followsLast: whether a link at the path's end is followed.
  func number(of path: String, followsLast: Bool = true) throws(AFCCode) -> Number {
    guard let number = try place(of: path, followsLast: followsLast).node else { throw .objectNotFound }
    return number
  }

  func contains(_ path: String) -> Bool { (try? number(of: path)) != nil }

  /// Sizes of the files directly in a folder, by name; empty where there is no such folder.
  func files(in path: String) -> [String: Int] {
    guard let number = try? number(of: path), let folder = nodes[number] else { return [:] }
    return folder.children.compactMapValues { number in
      nodes[number].flatMap { $0.kind == .file ? $0.size : nil }
    }
  }

  /// A file's bytes; nil where no file is.
  func contents(of path: String) -> [UInt8]? {
    guard let number = try? number(of: path), let node = nodes[number], node.kind == .file else { return nil }
    return read(number, at: 0, count: node.size)
  }

  // MARK: Bytes of one file

  /// - Returns: fewer bytes, or none, at the end of the file.
  func read(_ number: Number, at position: Int, count: Int) -> [UInt8] {
    guard let node = nodes[number], position >= 0, count > 0, position < node.size else { return [] }
    let end = position + min(count, node.size - position)
    let kept = position < node.bytes.count ? Array(node.bytes[position..<min(end, node.bytes.count)]) : []
    return kept + [UInt8](repeating: 0, count: end - position - kept.count)
  }

  mutating func write(_ number: Number, at position: Int, _ bytes: [UInt8]) throws(AFCCode) {
    guard let size = nodes[number]?.size, position >= 0 else { throw .invalidArgument }
    let (end, overflow) = position.addingReportingOverflow(bytes.count)
    guard !overflow else { throw .noSpaceLeft }
    if end > size || (nodes[number]?.hollow ?? 0) > 0 { try resize(number, to: max(end, size)) }
    nodes[number]?.bytes.replaceSubrange(position..<end, with: bytes)
    nodes[number]?.modified = Self.now
  }

  mutating func resize(_ number: Number, to size: Int) throws(AFCCode) {
    guard let before = nodes[number], before.kind == .file, size >= 0 else { throw .invalidArgument }
    let growth = size - before.bytes.count
    guard growth <= capacity.bytes - used else { throw .noSpaceLeft }
    used += growth
    nodes[number]?.hollow = 0
    if growth < 0 {
      nodes[number]?.bytes.removeLast(-growth)
    } else {
      nodes[number]?.bytes.append(contentsOf: repeatElement(0, count: growth))
    }
    nodes[number]?.modified = Self.now
  }

  // MARK: Nodes

  mutating func add(_ node: Node) throws(AFCCode) -> Number {
    guard nodes.count < capacity.entries else { throw .noSpaceLeft }
    last += 1
    nodes[last] = node
    return last
  }

  /// Forgets a node that nothing leads to any more.
  mutating func forgetIfUnused(_ number: Number) {
    guard let node = nodes[number], node.links <= 0, node.handles <= 0 else { return }
    used -= node.bytes.count
    nodes[number] = nil
  }
}
