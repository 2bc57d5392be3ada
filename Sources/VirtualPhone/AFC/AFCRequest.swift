import Wire

/// What a packet asks for, with its fields read.
enum AFCRequest: Equatable, Sendable {
  case names(in: String)
  case facts(of: String)
  case deviceFacts
  case open(mode: UInt64, String)
  case read(UInt64, count: UInt64)
  case seek(UInt64, whence: UInt64, offset: Int64)
  case tell(UInt64)
  case close(UInt64)
  case setSize(UInt64, UInt64)
  case lock(UInt64, kind: UInt64)
  case change(AFCChange)
  /// Sizes of blocks and other settings, which change nothing here.
  case setting

  /// - Throws: what the phone answers to operations that it does not know or does not do, and to missing fields.
  init(_ operation: UInt64, _ data: [UInt8]) throws(AFCCode) {
    guard let operation = AFCOperation(rawValue: operation) else { throw .unknownPacket }
    var fields = AFCFields(data)
    switch operation {
    case .readFolder: self = .names(in: try fields.text())
    case .fileInfo: self = .facts(of: try fields.text())
    case .deviceInfo: self = .deviceFacts
    case .open: self = .open(mode: try fields.number(), try fields.text())
    case .read: self = .read(try fields.number(), count: try fields.number())
    case .seek:
      self = .seek(
        try fields.number(), whence: try fields.number(), offset: Int64(bitPattern: try fields.number()))
    case .tell: self = .tell(try fields.number())
    case .close: self = .close(try fields.number())
    case .setSize: self = .setSize(try fields.number(), try fields.number())
    case .lock: self = .lock(try fields.number(), kind: try fields.number())
    case .removePath: self = .change(.remove(try fields.text()))
    case .removeWithContents: self = .change(.removeWithContents(try fields.text()))
    case .makeFolder: self = .change(.makeFolder(try fields.text()))
    case .rename: self = .change(.rename(try fields.text(), to: try fields.text()))
    case .makeLink:
      let kind = try fields.number()
      guard kind == 1 || kind == 2 else { throw .invalidArgument }
      self = .change(.link(to: try fields.text(), try fields.text(), symbolic: kind == 2))
    case .setModified: self = .change(.setModified(to: try fields.number(), try fields.text()))
    case .truncate: self = .change(.truncate(to: try fields.number(), try fields.text()))
    case .connectionOptions, .fileSystemBlockSize, .socketBlockSize: self = .setting
    // A write is taken as it comes, the others are replies.
    case .write, .status, .data, .opened, .position: throw .unknownPacket
    case .readFile, .writeFile, .writePart, .writeFileAtomically, .connectionInfo, .fileHash, .fileHashInRange,
      .immutableHint, .contentsSize, .openFolder, .readOpenFolder, .closeFolder, .rewindFolder, .readAt, .writeAt:
      throw .notSupported
    }
  }
}

/// A request that changes the tree by a path.
enum AFCChange: Equatable, Sendable {
  case remove(String)
  case removeWithContents(String)
  case makeFolder(String)
  case rename(String, to: String)
  case link(to: String, String, symbolic: Bool)
  /// Nanoseconds since 1970.
  case setModified(to: UInt64, String)
  case truncate(to: UInt64, String)

  /// Its name, and the path that it concerns, for the journal.
  var deed: (name: String, path: String) {
    switch self {
    case .remove(let path): ("RemovePath", path)
    case .removeWithContents(let path): ("RemovePathAndContents", path)
    case .makeFolder(let path): ("MakeDir", path)
    case .rename(let path, _): ("RenamePath", path)
    case .link(_, let path, _): ("MakeLink", path)
    case .setModified(_, let path): ("SetModTime", path)
    case .truncate(_, let path): ("Truncate", path)
    }
  }

  /// Every path that must be one of those shown.
  var paths: [String] {
    switch self {
    case .rename(let path, let other): [path, other]
    case .remove, .removeWithContents, .makeFolder, .link, .setModified, .truncate: [deed.path]
    }
  }

  func apply(to tree: inout FileTree) throws(AFCCode) {
    switch self {
    case .remove(let path): try tree.remove(path)
    case .removeWithContents(let path): try tree.removeWithContents(path)
    case .makeFolder(let path): try tree.makeFolder(path)
    case .rename(let path, let other): try tree.rename(path, to: other)
    case .link(let target, let path, let symbolic): try tree.makeLink(path, to: target, symbolic: symbolic)
    case .setModified(let moment, let path): try tree.setModified(path, to: Int64(clamping: moment))
    case .truncate(let size, let path): try tree.resize(try tree.number(of: path), to: Int(clamping: size))
    }
  }
}
