extension FileTree {
  /// What GetFileInfo says of a path; a link is not followed.
  func facts(of path: String) throws(AFCCode) -> [(key: String, value: String)] {
    guard let node = nodes[try number(of: path, followsLast: false)] else { throw .objectNotFound }
    let size: Int
    let links: Int
    switch node.kind {
    case .file: (size, links) = (node.size, node.links)
    case .link: (size, links) = (node.target.utf8.count, node.links)
    case .folder: (size, links) = (64 + 32 * node.children.count, 2 + node.children.count)
    }
    // Blocks of 512 bytes, taken eight at a time.
    var facts = [
      ("st_size", "\(size)"), ("st_blocks", "\((size + 4095) / 4096 * 8)"), ("st_nlink", "\(links)"),
      ("st_ifmt", node.kind.format), ("st_mtime", "\(node.modified)"), ("st_birthtime", "\(node.born)"),
    ]
    if node.kind == .link { facts.append(("LinkTarget", node.target)) }
    return facts
  }
}

extension FileTree.Kind {
  fileprivate var format: String {
    switch self {
    case .file: "S_IFREG"
    case .folder: "S_IFDIR"
    case .link: "S_IFLNK"
    }
  }
}
