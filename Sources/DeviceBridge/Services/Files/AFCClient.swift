import Wire

/// The phone's file service over one of its connections: one request at a time, one reply to each.
final class AFCClient {
  /// Longest reply that is taken; a list of ten thousand names has half a megabyte.
  private static let replyLimit = 4 << 20
  /// Names of one folder that are taken.
  static let nameLimit = 10_000
  /// Bytes asked for at once.
  private static let part = 64 << 10

  private let channel: ServiceChannel
  private let udid: UDID
  private var number: UInt64 = 0

  init(_ channel: ServiceChannel, _ udid: UDID) {
    self.channel = channel
    self.udid = udid
  }

  /// Names in a folder, without the folder itself and its parent.
  ///
  /// - Returns: nil when there is no such folder.
  func names(in folder: String) throws(PhoneError) -> [String]? {
    let reply = try ask(.readFolder, data: try path(folder))
    if reply.status == .notFound { return nil }
    let names = AFCFrame.texts(try data(reply, "listing \(folder)"))
    return Array(names.lazy.filter { $0 != "." && $0 != ".." }.prefix(Self.nameLimit))
  }

  /// - Returns: nil when there is nothing of that name.
  func facts(of path: String) throws(PhoneError) -> [String: String]? {
    let reply = try ask(.fileInfo, data: try self.path(path))
    if reply.status == .notFound { return nil }
    return AFCFrame.pairs(try data(reply, "looking at \(path)"))
  }

  /// The file's bytes, at most `limit` of them.
  func read(_ path: String, limit: Int) throws(PhoneError) -> [UInt8] {
    let step = "reading \(path)"
    let handle = try open(path, mode: 1, step)
    var bytes: [UInt8] = []
    while bytes.count < limit {
      let count = UInt64(min(Self.part, limit - bytes.count))
      let part = try data(ask(.read, data: AFCFrame.bytes(of: handle) + AFCFrame.bytes(of: count)), step)
      if part.isEmpty { break }
      bytes += part.prefix(limit - bytes.count)
    }
    _ = try ask(.close, data: AFCFrame.bytes(of: handle))
    return bytes
  }

  /// Creates the folder; one that is there is good as well.
  func makeFolder(_ folder: String) throws(PhoneError) {
    let reply = try ask(.makeFolder, data: try path(folder))
    guard let status = reply.status, status == .success || status == .exists else {
      throw refused(reply, "making the folder \(folder)")
    }
  }

  /// Writes the file anew.
  func write(_ file: LocalFile, to path: String, _ report: ProgressReport) throws(PhoneError) {
    let step = "writing \(path)"
    let handle = try open(path, mode: 3, step)
    try file.forEachPart { part, sent throws(PhoneError) in
      let reply = try ask(.write, data: AFCFrame.bytes(of: handle), payload: part)
      guard reply.status == .success else { throw refused(reply, step) }
      report(.sent(bytes: sent, of: file.size))
    }
    let reply = try ask(.close, data: AFCFrame.bytes(of: handle))
    guard reply.status == .success else { throw refused(reply, step) }
  }

  /// - Returns: whether it is gone now.
  func remove(_ path: String) throws(PhoneError) -> Bool {
    let status = try ask(.removePath, data: try self.path(path)).status
    return status == .success || status == .notFound
  }

  // MARK: - Messages

  private struct Reply {
    let operation: UInt64
    let bytes: [UInt8]
    /// nil for a reply of another kind.
    var status: AFCStatus? {
      operation == AFCOperation.status.rawValue ? AFCFrame.word(bytes, at: 0).map(AFCStatus.init) : nil
    }
  }

  private func ask(
    _ operation: AFCOperation, data: [UInt8], payload: [UInt8] = []
  ) throws(PhoneError) -> Reply {
    number += 1
    try channel.send(AFCFrame(operation, number: number, data: data, payload: payload).bytes)
    let head = try channel.receive(AFCFrame.headerSize)
    let header: AFCFrame.Header
    do { header = try AFCFrame.header(head, limit: Self.replyLimit) } catch { throw bad(error.sentence) }
    guard header.number == number else { throw bad("a reply to another request") }
    let bytes = try channel.receive(header.dataSize + header.payloadSize)
    return Reply(operation: header.operation, bytes: bytes)
  }

  private func data(_ reply: Reply, _ step: String) throws(PhoneError) -> [UInt8] {
    guard reply.operation == AFCOperation.data.rawValue else { throw refused(reply, step) }
    return reply.bytes
  }

  private func open(_ path: String, mode: UInt64, _ step: String) throws(PhoneError) -> UInt64 {
    let reply = try ask(.open, data: AFCFrame.bytes(of: mode) + (try self.path(path)))
    guard reply.operation == AFCOperation.opened.rawValue, let handle = AFCFrame.word(reply.bytes, at: 0) else {
      throw refused(reply, step)
    }
    return handle
  }

  private func path(_ path: String) throws(PhoneError) -> [UInt8] {
    guard let bytes = AFCFrame.path(path) else { throw .badRequest(detail: "the path holds a NUL character") }
    return bytes
  }

  private func refused(_ reply: Reply, _ step: String) -> PhoneError {
    guard let status = reply.status, status != .success else { return bad("an answer of another kind") }
    let code = Int32(exactly: status.number) ?? -1
    return .lockdown(udid, step: PhoneText.clean(step), token: status.token, code: code)
  }

  private func bad(_ detail: String) -> PhoneError {
    .badReply(udid, step: "speaking with the file service", detail: detail)
  }
}
