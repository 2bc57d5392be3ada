/// An NSError of a phone with those that lie under it.
public struct ErrorChain: Equatable, Sendable {
  public var domain: String
  public var code: Int64
  /// For people, in the phone's language.
  public var description: String?
  public var failureReason: String?
  /// The code's own name, such as `Locked`.
  public var codeName: String?
  public var underlying: [ErrorChain]

  public init(
    domain: String, code: Int64, description: String? = nil, failureReason: String? = nil, codeName: String? = nil,
    underlying: [ErrorChain] = []
  ) {
    self.domain = domain
    self.code = code
    self.description = description
    self.failureReason = failureReason
    self.codeName = codeName
    self.underlying = underlying
  }

  /// The phone's own words, the innermost error first: it says the most, and long texts are cut at their end.
  public var words: String {
    let words = [description, failureReason].compactMap { $0 }.filter { !$0.isEmpty }
    let own = ["\(domain) \(code)\(codeName.map { " \($0)" } ?? "")"] + words
    return (underlying.map(\.words) + [own.joined(separator: ": ")]).joined(separator: "; ")
  }
}

// MARK: - Archives

extension ErrorChain {
  /// - Returns: nil for an object that is no error.
  public init?(_ archived: Archived) {
    guard case .error(let domain, let code, let userInfo) = archived else { return nil }
    self.init(domain: domain, code: code)
    take(userInfo)
  }

  /// Texts and underlying errors of an error's dictionary.
  mutating func take(_ userInfo: [String: Archived]) {
    description = userInfo["NSLocalizedDescription"]?.string ?? description
    failureReason = userInfo["NSLocalizedFailureReason"]?.string ?? failureReason
    codeName = userInfo["BSErrorCodeDescription"]?.string ?? codeName
    let errors =
      [userInfo["NSUnderlyingError"]].compactMap { $0 } + (userInfo["NSMultipleUnderlyingErrorsKey"]?.array ?? [])
    underlying += errors.compactMap(ErrorChain.init)
  }

  public var userInfo: [String: Archived] {
    var entries: [String: Archived] = [:]
    if let description { entries["NSLocalizedDescription"] = .string(description) }
    if let failureReason { entries["NSLocalizedFailureReason"] = .string(failureReason) }
    if let codeName { entries["BSErrorCodeDescription"] = .string(codeName) }
    if let first = underlying.first { entries["NSUnderlyingError"] = first.archived }
    if underlying.count > 1 {
      entries["NSMultipleUnderlyingErrorsKey"] = .array(underlying.dropFirst().map(\.archived))
    }
    return entries
  }

  public var archived: Archived { .error(domain: domain, code: code, userInfo: userInfo) }
}

// MARK: - CoreDevice's messages

extension ErrorChain {
  /// Reads `CoreDevice.error`: a plain part, and an archive with the errors that lie under it.
  ///
  /// An archive that cannot be read takes nothing from what the plain part says.
  public init(wire: XPCValue) throws(ShapeError) {
    self.init(domain: try wire.text("domain"), code: try wire.integer("code"))
    let plain = wire["userInfo"]
    description = plain?["NSLocalizedDescription"]?.string
    failureReason = plain?["NSLocalizedFailureReason"]?.string
    codeName = plain?["BSErrorCodeDescription"]?.string
    if let archive = wire["userInfoWithNSSecureCoding"]?.bytes,
      case .dictionary(let entries)? = try? KeyedArchive.decode(archive)
    {
      take(entries)
    }
  }

  public var wire: XPCValue {
    var plain: [String: XPCValue] = [:]
    if let description { plain["NSLocalizedDescription"] = .string(description) }
    if let failureReason { plain["NSLocalizedFailureReason"] = .string(failureReason) }
    return [
      "domain": .string(domain), "code": .int64(code), "userInfo": .dictionary(plain),
      "userInfoWithNSSecureCoding": .data(KeyedArchive.encode(.dictionary(userInfo))),
    ]
  }
}
