import CSQLite
import Glibc
import Transport
import Wire

/// What keeps the record from being read or written. No phone is at fault.
public enum RecordTrouble: Error, Equatable, Sendable {
  /// The disk takes no more.
  case full(path: String)
  /// Another process has held it for that long.
  case locked(path: String, limit: Duration)
  /// The disk has not answered for that long; what was asked of it may still come about.
  case slow(path: String, limit: Duration)
  /// The file is damaged, or no database at all.
  case corrupt(path: String)
  /// Written by a fleetctl that is newer than this one.
  case newer(path: String, found: Int, known: Int)
  /// Written by an older fleetctl, and only whoever writes brings it up to date.
  case older(path: String, found: Int, known: Int)
  /// A database, but another program's.
  case foreign(path: String)
  /// There is none yet.
  case missing(path: String)
  /// It may not be read or written; the number is an errno.
  case forbidden(path: String, code: Int32)
  /// The file was deleted, replaced or damaged while it was open, and is begun anew at its place; the last row there has
  /// this number, 0 where there is none. What was asked for was not written. Told once.
  case begunAnew(path: String, lastSeq: Int)
  /// A row's number is not the one after the last row's, and no such row is there already.
  case outOfOrder(path: String, seq: Int?, last: Int)
  /// Anything else that SQLite says: its extended result code and its text.
  case failed(path: String, code: Int32, text: String)
}

extension RecordTrouble {
  /// What an answer of SQLite's means; a code that is not known keeps its number and text.
  init(_ code: Int32, _ text: String, path: String, limit: Duration) {
    switch code & 0xFF {
    case SQLITE_FULL: self = .full(path: path)
    case SQLITE_BUSY, SQLITE_LOCKED: self = .locked(path: path, limit: limit)
    case SQLITE_CORRUPT, SQLITE_NOTADB: self = .corrupt(path: path)
    case SQLITE_READONLY: self = .forbidden(path: path, code: EROFS)
    case SQLITE_PERM, SQLITE_AUTH: self = .forbidden(path: path, code: EACCES)
    default: self = .failed(path: path, code: code, text: text)
    }
  }

  /// Whether the same may work a little later.
  var mayPass: Bool {
    switch self {
    case .full, .locked, .slow: true
    case .failed(_, let code, _): code & 0xFF == SQLITE_IOERR || code & 0xFF == SQLITE_CANTOPEN
    case .corrupt, .newer, .older, .foreign, .missing, .forbidden, .begunAnew, .outOfOrder: false
    }
  }

  /// The host row that it stands for.
  public var words: OutcomeWords {
    switch self {
    case .forbidden: OutcomeWords(.hostFault, .permission)
    case .full, .locked, .slow, .corrupt, .newer, .older, .foreign, .missing, .begunAnew, .outOfOrder, .failed:
      OutcomeWords(.hostFault, .disk)
    }
  }

  /// What happened, the likely cause, what to type next.
  public var sentence: String {
    switch self {
    case .full(let path):
      "The record \(path) can't be written: its disk is full. Nothing that is in it is lost. "
        + "Make room: df -h \(Self.folder(of: path))"
    case .locked(let path, let limit):
      "The record \(path) has been locked for \(limit.shown). Another process is writing to it, or stands still while it does. "
        + "See which: fuser -v \(path)"
    case .slow(let path, let limit):
      "The record \(path) has not answered within \(limit.shown). Its disk may be dying, or very busy. "
        + "Look at what the kernel says: sudo dmesg | tail"
    case .corrupt(let path):
      "The record \(path) is damaged. The disk may have lost what was written, or something else has written to it. "
        + "The next run sets it aside and begins a new one; look at what can be saved: sqlite3 \(path) .recover"
    case .newer(let path, let found, let known):
      "The record \(path) has schema \(found), and this fleetctl knows up to \(known). A newer fleetctl has written it. "
        + "Use that one, or update this one; see which it is: fleetctl --version"
    case .older(let path, let found, let known):
      "The record \(path) has schema \(found), and this fleetctl reads \(known). It is brought up to date by whoever writes to it. "
        + "Start the supervisor, or run something: fleetctl run --body NAME"
    case .foreign(let path):
      "The database \(path) is not a record of fleetctl's. record.sqlite in fleet.yaml names another program's file. "
        + "See where it comes from: fleetctl config show --origin"
    case .missing(let path):
      "There is no record at \(path) yet. Nothing has been supervised or run that would be in it. Begin it: fleetctl supervise, or fleetctl run"
    case .forbidden(let path, let code):
      "The record \(path) is not to be had: \(Errno.text(code)). Its folder or file belongs to others, or its disk is read-only. "
        + "Look at them: ls -ld \(Self.folder(of: path)); ls -l \(path)"
    case .begunAnew(let path, _):
      "The record \(path) was deleted, replaced or damaged, and is begun anew there. Somebody has moved the file, or the disk has lost it. "
        + "See what is there: ls -l \(path)*"
    case .outOfOrder(let path, let seq, let last):
      "The record \(path) ends with row \(last), and row \(seq.map(String.init) ?? "without a number") was to be written. Two supervisors may be writing to it. "
        + "See who does: fuser -v \(path)"
    case .failed(let path, let code, let text):
      "The record \(path) can't be used: \(text) (SQLite \(code)). Its disk or its folder may be at fault. "
        + "Look at them: df -h \(Self.folder(of: path)); ls -l \(path)"
    }
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}
