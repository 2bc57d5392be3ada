import Transport
import Wire

extension AFCSession {
  /// Most bytes that one FileRead gives.
  static let readLimit = 8 << 20

  /// - Returns: the reply's packet.
  func perform(_ request: AFCRequest, number: UInt64) throws(AFCCode) -> [UInt8] {
    switch request {
    case .names(let path): return list(try names(in: path), number)
    case .facts(let path):
      let path = try shown(path)
      let facts = try tree.with { tree throws(AFCCode) in try tree.facts(of: path) }
      return list(facts.flatMap { [$0.key, $0.value] }, number)
    case .deviceFacts: return list(deviceFacts, number)
    case .open(let mode, let path):
      return AFCFrame(.opened, number: number, data: AFCFrame.bytes(of: try open(mode, path))).bytes
    case .read(let handle, let count):
      return AFCFrame(.data, number: number, payload: try read(handle, count: count)).bytes
    case .tell(let handle):
      return AFCFrame(.position, number: number, data: AFCFrame.bytes(of: UInt64(try handles[handle].position))).bytes
    case .seek(let handle, let whence, let offset): try seek(handle, whence: whence, by: offset)
    case .close(let handle):
      _ = try handles[handle]
      close(handle)
    case .setSize(let handle, let size): try resize(handle, to: size)
    case .lock(let handle, let kind):
      _ = try handles[handle]
      // Shared, exclusive, unlock: there is nobody to keep out.
      guard [5, 6, 12].contains(kind) else { throw .invalidArgument }
    case .change(let change): try perform(change)
    case .setting: break
    }
    // 48 bytes: clients take a bare header for an error.
    return AFCFrame(.status, number: number, data: AFCFrame.bytes(of: AFCCode.success.rawValue)).bytes
  }

  private func perform(_ change: AFCChange) throws(AFCCode) {
    for path in change.paths { _ = try shown(path) }
    note(change.deed.name, change.deed.path)
    try tree.with { tree throws(AFCCode) in try change.apply(to: &tree) }
  }

  /// The path, unless it leads to what is not shown at the root.
  private func shown(_ path: String) throws(AFCCode) -> String {
    guard let visible else { return path }
    let parts = try FileTree.parts(of: path)
    guard !parts.contains(".."), parts.first.map(visible.contains) ?? true else { throw .permissionDenied }
    return path
  }

  // MARK: Telling

  private func names(in path: String) throws(AFCCode) -> [String] {
    let path = try shown(path)
    note("ReadDir", path)
    let names = try tree.with { tree throws(AFCCode) in try tree.names(in: path) }
    guard let visible, try FileTree.parts(of: path).isEmpty else { return names }
    return names.filter { visible.contains($0) || $0 == "." || $0 == ".." }
  }

  private func list(_ texts: [String], _ number: UInt64) -> [UInt8] {
    AFCFrame(.data, number: number, payload: texts.flatMap { Array($0.utf8) + [0] }).bytes
  }

  private var deviceFacts: [String] {
    let (capacity, used) = tree.with { ($0.capacity.bytes, $0.used) }
    return [
      "Model", phone.preset.productType, "FSTotalBytes", "\(capacity)", "FSFreeBytes", "\(capacity - used)",
      "FSBlockSize", "4096",
    ]
  }

  // MARK: Open files

  private func open(_ mode: UInt64, _ path: String) throws(AFCCode) -> UInt64 {
    guard let mode = AFCHandles.Mode(rawValue: mode) else { throw .invalidArgument }
    guard !handles.isFull else { throw .noResources }
    let path = try shown(path)
    let file = try tree.with { tree throws(AFCCode) -> FileTree.Number in
      let file = try tree.openFile(path, creates: mode.writes, truncates: mode.truncates)
      tree.nodes[file]?.handles += 1
      return file
    }
    note("FileOpen", path, ["writes": .boolean(mode.writes)])
    return handles.add(AFCHandles.Handle(path: path, file: file, mode: mode))
  }

  private func read(_ number: UInt64, count: UInt64) throws(AFCCode) -> [UInt8] {
    let handle = try handles[number]
    guard handle.mode.reads else { throw .permissionDenied }
    let bytes = tree.with {
      $0.read(handle.file, at: handle.position, count: Int(min(count, UInt64(Self.readLimit))))
    }
    handles.move(number, to: handle.position + bytes.count, read: bytes.count)
    return bytes
  }

  private func resize(_ number: UInt64, to size: UInt64) throws(AFCCode) {
    let handle = try handles[number]
    guard handle.mode.writes else { throw .permissionDenied }
    try tree.with { tree throws(AFCCode) in try tree.resize(handle.file, to: Int(clamping: size)) }
  }

  /// - Parameter whence: 0 from the start, 1 from where it stands, 2 from the end.
  private func seek(_ number: UInt64, whence: UInt64, by offset: Int64) throws(AFCCode) {
    let handle = try handles[number]
    let base: Int
    switch whence {
    case 0: base = 0
    case 1: base = handle.position
    case 2: base = tree.with { $0.nodes[handle.file]?.size ?? 0 }
    default: throw .invalidArgument
    }
    let (position, overflow) = base.addingReportingOverflow(Int(offset))
    guard !overflow, position >= 0 else { throw .invalidArgument }
    handles.move(number, to: position)
  }
}
