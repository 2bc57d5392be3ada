import Glibc
import Wire

/// What somebody holds a phone for.
public enum HoldPurpose: String, Sendable, CaseIterable {
  /// A scenario run.
  case run
  /// A person who has taken the phone out of supervision.
  case hold
  /// A revival that a person asked for.
  case revive
  /// A revival of the supervisor's.
  case supervise
  case install

  /// The reason of `held` that it is.
  public var reason: OutcomeReason {
    switch self {
    case .run, .supervise, .install: .run
    case .hold, .revive: .person
    }
  }
}

/// Who holds a phone, as the lock's file says it. Anybody may write there, so it is what they claim, made harmless.
public struct Holder: Equatable, Sendable {
  public var pid: Int?
  public var user: String?
  public var purpose: HoldPurpose?
  /// The run's number.
  public var run: Int?
  /// A person's own words.
  public var reason: String?

  public init(
    pid: Int? = nil, user: String? = nil, purpose: HoldPurpose? = nil, run: Int? = nil, reason: String? = nil
  ) {
    self.pid = pid
    self.user = user
    self.purpose = purpose
    self.run = run
    self.reason = reason
  }

  /// This process, as the user that it runs for.
  public static func current(_ purpose: HoldPurpose, run: Int? = nil, reason: String? = nil) -> Holder {
    Holder(pid: Int(getpid()), user: userName(getuid()), purpose: purpose, run: run, reason: reason)
  }

  private static func userName(_ id: uid_t) -> String {
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16 << 10)
    guard getpwuid_r(id, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name else {
      return "\(id)"
    }
    return String(cString: name)
  }

  /// For people: `run 17 of anna (process 4711)`, `anna (process 4711): changing the battery`.
  public var text: String {
    let process = pid.map { " (process \($0))" } ?? ""
    let somebody = user ?? "somebody"
    let who =
      switch purpose {
      case .run: run.map { "run \($0) of \(somebody)" } ?? "a run of \(somebody)"
      case .hold, nil: somebody
      case .revive: "a revival that \(somebody) asked for"
      case .supervise: "the supervisor"
      case .install: "an installation of \(somebody)'s"
      }
    return "\(who)\(process)\(reason.map { ": \($0)" } ?? "")"
  }

  /// As `held_by` of the API.
  public var json: JSON {
    [
      "run": run.map { .integer(Int64($0)) } ?? .null, "pid": pid.map { .integer(Int64($0)) } ?? .null,
      "user": .text(user), "reason": .text(reason),
    ]
  }
}

extension Holder {
  /// Longest that is read or written.
  static let lineLimit = 4_096

  var line: String {
    let json: JSON = [
      "pid": pid.map { .integer(Int64($0)) } ?? .null, "purpose": .text(purpose?.rawValue),
      "reason": .text(reason.map { $0.oneLine() }), "run": run.map { .integer(Int64($0)) } ?? .null,
      "user": .text(user.map { $0.oneLine() }),
    ]
    return json.line + "\n"
  }

  /// What can be understood of it; nothing at all gives a holder that is nobody known.
  init(line bytes: [UInt8]) {
    let json = JSON(parsing: bytes)
    self.init(
      pid: json?["pid"]?.int, user: json?["user"]?.string.map { $0.oneLine() },
      purpose: json?["purpose"]?.string.flatMap(HoldPurpose.init), run: json?["run"]?.int,
      reason: json?["reason"]?.string.map { $0.oneLine() })
  }
}
