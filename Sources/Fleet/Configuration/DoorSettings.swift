/// A request line: the method, and path with query.
public struct RequestLine: Equatable, Sendable, CustomStringConvertible {
  public var method: String
  public var target: String

  public init(method: String, target: String) {
    self.method = method
    self.target = target
  }

  /// Reads `METHOD PATH`.
  ///
  /// - Returns: nil unless the method is upper-case letters, and the path begins with `/` and holds visible ASCII only:
  ///   anything else has to be percent-encoded.
  public init?(_ text: String) {
    guard let space = text.firstIndex(of: " ") else { return nil }
    self.init(method: String(text[..<space]), target: String(text[text.index(after: space)...]))
    guard !method.isEmpty, method.utf8.allSatisfy({ (65...90).contains($0) || $0 == 45 }),
      target.hasPrefix("/"), target.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else { return nil }
  }

  public var description: String { "\(method) \(target)" }
}

/// The door's requests that the harness knows by name: the rows of docs/door.md's table.
public enum DoorRow: String, Sendable, CaseIterable { case hello, status, photo, clip }

/// A request as it goes to the door.
public struct DoorCall: Equatable, Sendable {
  public var line: RequestLine
  /// The row of docs/door.md that it is; nil for any other request.
  public var row: DoorRow?
  /// The caller's own clock: the net for a door that never answers.
  public var limit: Duration
}

/// fleet.yaml's `door`.
public struct DoorSettings: Equatable, Sendable {
  /// The door's port on the phone.
  public var port: UInt16 = 8127
  /// Where the door's token stands; the token itself is read when it is needed, and never kept here.
  public var tokenFile: String?
  /// How the app names docs/door.md's requests; `{camera}` and `{seconds}` are filled in.
  public var forms: [DoorRow: RequestLine] = Self.usual

  /// docs/door.md's own names.
  public static let usual: [DoorRow: RequestLine] = [
    .hello: RequestLine(method: "GET", target: "/hello"),
    .status: RequestLine(method: "GET", target: "/status"),
    .photo: RequestLine(method: "POST", target: "/photo?camera={camera}"),
    .clip: RequestLine(method: "POST", target: "/clip?camera={camera}&seconds={seconds}"),
  ]

  public init() {}

  /// A request as docs/door.md names it, in the form that this app has for it.
  public func call(_ row: DoorRow, camera: String? = nil, seconds: String? = nil) -> DoorCall {
    var query: [(String, String)] = []
    if let camera { query.append(("camera", camera)) }
    if let seconds { query.append(("seconds", seconds)) }
    return filled(row, query: query)
  }

  /// Sends a method and path that match a row of docs/door.md in fleet.yaml's form; any other goes as it is.
  public func call(_ line: RequestLine) -> DoorCall {
    let (path, query) = Self.split(line.target)
    for row in DoorRow.allCases {
      guard let usual = Self.usual[row], usual.method == line.method, Self.split(usual.target).path == path else {
        continue
      }
      return filled(row, query: query)
    }
    return DoorCall(line: line, row: nil, limit: .seconds(10))
  }

  private func filled(_ row: DoorRow, query: [(String, String)]) -> DoorCall {
    let known = ["camera", "seconds"]
    let form = forms[row] ?? Self.usual[row] ?? RequestLine(method: "GET", target: "/")
    func value(_ name: String) -> String? { query.first { $0.0 == name }?.1 }
    func filled(_ text: String) -> String {
      known.reduce(text) { $0.replacing("{\($1)}", with: value($1) ?? "") }
    }
    let formParts = Self.split(form.target)
    // A parameter that the request leaves out is left out of the form too: the app has its own word on that.
    let parameters = formParts.query.filter { _, text in
      known.allSatisfy { !text.contains("{\($0)}") || value($0) != nil }
    }.map { ($0.0, filled($0.1)) }
    let inForm = known.filter { form.target.contains("{\($0)}") }
    let others = query.filter { !inForm.contains($0.0) }
    let joined = (parameters + others).map { $0.1.isEmpty ? $0.0 : "\($0.0)=\($0.1)" }.joined(separator: "&")
    let path = filled(formParts.path)
    let target = joined.isEmpty ? path : "\(path)?\(joined)"
    return DoorCall(
      line: RequestLine(method: form.method, target: target), row: row,
      limit: Self.limit(row, seconds: value("seconds")))
  }

  /// docs/door.md's caller clocks.
  private static func limit(_ row: DoorRow, seconds: String?) -> Duration {
    switch row {
    case .hello, .status: .seconds(10)
    case .photo: .seconds(20)
    case .clip:
      // An absurd length is the door's to refuse; the clock only has to end.
      .seconds(min(max(seconds.flatMap(Double.init) ?? 0, 0), 3_600)) + .seconds(20)
    }
  }

  private static func split(_ target: String) -> (path: String, query: [(String, String)]) {
    guard let mark = target.firstIndex(of: "?") else { return (target, []) }
    let query = target[target.index(after: mark)...].split(separator: "&").map { part -> (String, String) in
      guard let equals = part.firstIndex(of: "=") else { return (String(part), "") }
      return (String(part[..<equals]), String(part[part.index(after: equals)...]))
    }
    return (String(target[..<mark]), query)
  }
}
