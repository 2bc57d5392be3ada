import Wire

/// Something that was done to a body or to the supervisor, and what came of it: a row of `actions`.
public struct ActionRow: Equatable, Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    case hold, pause, resume, revive, launch, pair, unpair, mount, install, reload
  }

  /// The wall clock, since 1970.
  public var at: Duration
  public var kind: Kind
  /// Who asked for it; nil: the supervisor did it of itself.
  public var user: String?
  /// In that person's words.
  public var reason: String?
  /// fleet.yaml's name.
  public var body: String?
  /// nil for what concerns no body, such as a reload.
  public var udid: UDID?
  public var result: String?

  public init(
    _ kind: Kind, at: Duration, user: String? = nil, reason: String? = nil, body: String? = nil, udid: UDID? = nil,
    result: String? = nil
  ) {
    self.kind = kind
    self.at = at
    self.user = user
    self.reason = reason
    self.body = body
    self.udid = udid
    self.result = result
  }

  /// What the watch did.
  init(_ action: WatchAction) {
    let kind: Kind =
      switch action.kind {
      case .launch: .launch
      case .mount: .mount
      }
    self.init(kind, at: action.at, udid: action.udid, result: action.result)
  }

  /// One object with all the keys; absent values are null.
  public var json: JSON {
    [
      "at": .string(WallClock.rfc3339(at)), "user": .text(user), "command": .string(kind.rawValue),
      "reason": .text(reason), "body": .text(body), "udid": .text(udid?.description), "result": .text(result),
    ]
  }
}
