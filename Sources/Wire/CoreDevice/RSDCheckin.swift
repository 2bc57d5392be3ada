/// The greeting that every property-list service wants first when it is reached through a tunnel.
///
/// The phone answers twice, one right behind the other; the host says nothing in between.
public enum RSDCheckin {
  public static func request(label: String) -> Plist {
    ["Label": .string(label), "ProtocolVersion": "2", "Request": "RSDCheckin"]
  }

  /// What a phone answers; an error is a word such as `ServiceProhibited`.
  public static func replies(error: String? = nil) -> [Plist] {
    var start: [String: Plist] = ["Request": "StartService"]
    if let error { start["Error"] = .string(error) }
    return [["Request": "RSDCheckin"], .dictionary(start)]
  }

  /// The answers that are still due, one after the other.
  public enum Step: Equatable, Sendable {
    case checkin
    case start
    case done

    /// Goes on with the phone's next message.
    ///
    /// - Throws: `RSDCheckinError` for a refusal, or for what is no answer at all.
    public func after(_ reply: Plist) throws(RSDCheckinError) -> Step {
      if let error = reply["Error"]?.string { throw .refused(error) }
      switch (self, reply["Request"]?.string) {
      case (.checkin, "RSDCheckin"): return .start
      case (.start, "StartService"): return .done
      case (.checkin, _), (.start, _), (.done, _): throw .unexpected
      }
    }
  }
}

/// Why a service does not go on behind its greeting.
public enum RSDCheckinError: Error, Equatable, Sendable {
  /// The phone's own word.
  case refused(String)
  case unexpected

  public var sentence: String {
    switch self {
    case .refused(let word): "the service refuses to start: \(word)"
    case .unexpected: "the service answers its greeting with something else"
    }
  }
}
