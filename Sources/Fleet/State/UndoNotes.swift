import Glibc
import Transport
import Wire

/// A state that a scenario is about to bring a phone into, written down first: a run that is killed leaves word of it.
public struct UndoNote: Equatable, Sendable {
  /// The state that was arranged.
  public var state: BodyState
  /// What has to hold again, in the words of whoever undoes it.
  public var back: String
  public var scenario: String
  /// The run's number.
  public var run: Int

  public init(state: BodyState, back: String, scenario: String, run: Int) {
    self.state = state
    self.back = back
    self.scenario = scenario
    self.run = run
  }
}

/// Where it is kept what runs have arranged on phones and not undone yet.
public protocol UndoNotes: Sendable {
  /// Replaces a phone's notes, the oldest first; when this returns, they outlive the process and the machine's power.
  func store(_ notes: [UndoNote], of udid: UDID) throws(HostTrouble)
  /// What is left to undo on a phone; notes that cannot be understood are left out.
  func notes(of udid: UDID) throws(HostTrouble) -> [UndoNote]
}

/// Notes as files of the state folder, one a phone.
///
/// A phone's file is read and written by whoever holds its lock, so by one process at a time.
public struct UndoNoteFolder: UndoNotes {
  private static let name = "undo"
  private static let byteLimit = 64 << 10
  private let state: StateFolder

  public init(_ state: StateFolder) { self.state = state }

  public func store(_ notes: [UndoNote], of udid: UDID) throws(HostTrouble) {
    let path = path(udid)
    guard !notes.isEmpty else {
      if unlink(path) != 0, errno != ENOENT { throw .state(path: path, code: errno) }
      return
    }
    _ = try Folders.make(Self.name, in: state)
    try AtomicFile.write(Array(notes.map(\.line).joined().utf8), to: path)
  }

  public func notes(of udid: UDID) throws(HostTrouble) -> [UndoNote] {
    let path = path(udid)
    let fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
    guard fd >= 0 else {
      if errno == ENOENT { return [] }
      throw .state(path: path, code: errno)
    }
    defer { close(fd) }
    let bytes = [UInt8](unsafeUninitializedCapacity: Self.byteLimit) { buffer, count in
      count = max(0, read(fd, buffer.baseAddress, Self.byteLimit))
    }
    return bytes.split(separator: 0x0A).compactMap { UndoNote(line: Array($0)) }
  }

  private func path(_ udid: UDID) -> String { "\(state.path)/\(Self.name)/\(FileName.of(udid)).jsonl" }
}

/// Notes that nobody needs after this process, such as those of phones that end with it.
public final class FleetingUndoNotes: UndoNotes {
  private let notes = Guarded<[UDID: [UndoNote]]>([:])

  public init() {}

  public func store(_ notes: [UndoNote], of udid: UDID) { self.notes.with { $0[udid] = notes } }
  public func notes(of udid: UDID) -> [UndoNote] { notes.with { $0[udid] ?? [] } }
}

extension UndoNote {
  var line: String {
    let json: JSON = [
      "back": .string(back), "run": .integer(Int64(run)), "scenario": .string(scenario),
      "state": .string(state.rawValue),
    ]
    return json.line + "\n"
  }

  /// - Returns: nil for anything that `line` would not write.
  init?(line bytes: [UInt8]) {
    guard let json = JSON(parsing: bytes), let state = json["state"]?.string.flatMap(BodyState.init),
      let back = json["back"]?.string, let scenario = json["scenario"]?.string, let run = json["run"]?.int
    else { return nil }
    self.init(state: state, back: back, scenario: scenario, run: run)
  }
}

/// Launch stamps that nobody needs after this process.
public final class FleetingLaunchStamps: LaunchStamps {
  private let stamps = Guarded<[UDID: LaunchStamp]>([:])

  public init() {}

  public func store(_ stamp: LaunchStamp, of udid: UDID) { stamps.with { $0[udid] = stamp } }
  public func last(of udid: UDID) -> LaunchStamp? { stamps.with { $0[udid] } }
}
