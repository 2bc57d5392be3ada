import Transport
import Wire

/// One host's dialogue about one folder tree.
final class AFCSession {
  /// The longest packet; some clients send a whole file in one.
  static let packetLimit = 1 << 30
  /// Paths and numbers; no operation has more data of its own.
  static let dataLimit = 64 << 10
  /// Time for the rest of a packet that has begun.
  private static let patience = Duration.seconds(60)
  /// Bytes taken from the connection at one time.
  private static let portion = 256 << 10

  let phone: VirtualPhone
  let tree: Guarded<FileTree>
  /// Names at the root that are shown; nil shows all.
  let visible: Set<String>?
  private let service: String
  private let stream: any ByteStream
  var handles = AFCHandles()

  init(_ connection: ServiceConnection, _ tree: Guarded<FileTree>, visible: Set<String>? = nil) {
    phone = connection.phone
    service = connection.service
    stream = connection.stream
    self.tree = tree
    self.visible = visible
  }

  /// Serves to the connection's end; files that are still open are closed then.
  func run() {
    defer { for number in handles.open.keys { close(number) } }
    while let bytes = readHeader() {
      let header: AFCFrame.Header
      do throws(AFCError) {
        header = try AFCFrame.header(bytes, limit: Self.packetLimit)
        guard header.dataSize <= Self.dataLimit else { throw .tooLarge }
      } catch {
        // Where the next packet would begin is anybody's guess.
        _ = send(status: error == .malformed ? .headerInvalid : .tooMuchData, to: AFCFrame.word(bytes, at: 24) ?? 0)
        return
      }
      guard let data = read(header.dataSize), answer(header, data) else { return }
    }
  }

  /// - Returns: whether the connection goes on.
  private func answer(_ header: AFCFrame.Header, _ data: [UInt8]) -> Bool {
    if header.operation == AFCOperation.write.rawValue {
      guard let outcome = takeBytes(header, data) else { return false }
      return send(status: outcome, to: header.number)
    }
    // No other request has anything behind its data.
    guard discard(header.payloadSize) else { return false }
    do throws(AFCCode) {
      return send(try perform(try AFCRequest(header.operation, data), number: header.number))
    } catch {
      return send(status: error, to: header.number)
    }
  }

  // MARK: FileWrite

  /// Writes the payload as it comes.
  ///
  /// - Returns: what came of it; nil when the connection has gone.
  private func takeBytes(_ header: AFCFrame.Header, _ data: [UInt8]) -> AFCCode? {
    var outcome = AFCCode.success
    var number: UInt64 = 0
    do throws(AFCCode) {
      var fields = AFCFields(data)
      number = try fields.number()
      guard try handles[number].mode.writes else { throw .permissionDenied }
    } catch {
      outcome = error
    }
    var left = header.payloadSize
    while left > 0 {
      guard let part = readSome(min(left, Self.portion)) else { return nil }
      left -= part.count
      guard outcome == .success else { continue }
      do throws(AFCCode) { try write(part, through: number) } catch { outcome = error }
    }
    return outcome
  }

  private func write(_ part: [UInt8], through number: UInt64) throws(AFCCode) {
    let handle = try handles[number]
    let end = try tree.with { tree throws(AFCCode) -> Int in
      let start = handle.mode.appends ? tree.nodes[handle.file]?.size ?? 0 : handle.position
      try tree.write(handle.file, at: start, part)
      return start + part.count
    }
    handles.move(number, to: end, written: part.count)
  }

  // MARK: Journal

  /// Writes a deed into the journal: which file, never what is in it.
  func note(_ deed: String, _ path: String, _ more: [String: JSON] = [:]) {
    var details = more
    details["operation"] = .string(deed)
    details["path"] = .string(String(path.prefix(256)))
    details["service"] = .string(service)
    phone.record("afc", details)
  }

  func close(_ number: UInt64) {
    guard let handle = handles.remove(number) else { return }
    tree.with {
      $0.nodes[handle.file]?.handles -= 1
      $0.forgetIfUnused(handle.file)
    }
    note(
      "FileClose", handle.path,
      ["bytes_read": .integer(Int64(handle.read)), "bytes_written": .integer(Int64(handle.written))])
  }

  // MARK: Bytes

  private func readHeader() -> [UInt8]? {
    do throws(StreamError) {
      let first = try stream.read(max: AFCFrame.headerSize, by: .never)
      if first.isEmpty { return nil }
      return first + (try stream.read(exactly: AFCFrame.headerSize - first.count, by: .after(Self.patience)))
    } catch {
      return nil
    }
  }

  private func read(_ count: Int) -> [UInt8]? {
    try? stream.read(exactly: count, by: .after(Self.patience))
  }

  private func readSome(_ count: Int) -> [UInt8]? {
    guard let part = try? stream.read(max: count, by: .after(Self.patience)), !part.isEmpty else { return nil }
    return part
  }

  private func discard(_ count: Int) -> Bool {
    var left = count
    while left > 0 {
      guard let part = readSome(min(left, Self.portion)) else { return false }
      left -= part.count
    }
    return true
  }

  private func send(status: AFCCode, to number: UInt64) -> Bool {
    send(AFCFrame(.status, number: number, data: AFCFrame.bytes(of: status.rawValue)).bytes)
  }

  /// The whole packet in one write: clients take what one read gives them for the header.
  private func send(_ packet: [UInt8]) -> Bool {
    (try? stream.write(packet, by: .after(Self.patience))) != nil
  }
}
