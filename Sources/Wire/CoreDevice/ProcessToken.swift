/// A process as a phone names it.
public struct ProcessToken: Equatable, Sendable {
  public var pid: Int
  /// Grows when the number is used again.
  public var version: Int?
  public var auditToken: [UInt64]
  /// A file URL; nil for the kernel's own.
  public var executable: String?

  public init(pid: Int, version: Int? = nil, auditToken: [UInt64] = [], executable: String? = nil) {
    self.pid = pid
    self.version = version
    self.auditToken = auditToken
    self.executable = executable
  }

  public init(_ body: XPCValue) throws(ShapeError) {
    // A process number is never negative, and 0 is the kernel's.
    guard let pid = body["processIdentifier"]?.int, (0...Int(Int32.max)).contains(pid) else {
      throw ShapeError("processIdentifier")
    }
    self.init(
      pid: pid, version: body["processIdentifierVersion"]?.int,
      auditToken: body["auditToken"]?.array?.compactMap(\.unsigned) ?? [],
      executable: body["executableURL"]?["relative"]?.string)
  }

  public var body: XPCValue {
    var entries: [String: XPCValue] = ["processIdentifier": .int64(Int64(pid))]
    if let version { entries["processIdentifierVersion"] = .int64(Int64(version)) }
    if !auditToken.isEmpty { entries["auditToken"] = .array(auditToken.map(XPCValue.uint64)) }
    if let executable { entries["executableURL"] = ["relative": .string(executable)] }
    return .dictionary(entries)
  }

  /// The executable's path, with what the URL escapes put back.
  public var path: String? {
    guard let executable else { return nil }
    let text = executable.hasPrefix("file://") ? executable.dropFirst("file://".count) : executable[...]
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let escaped = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)),
        escaped.count == 1
      {
        bytes += escaped
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// What `launchapplication` answers.
public struct LaunchOutput: Equatable, Sendable {
  public var process: ProcessToken

  public init(_ process: ProcessToken) { self.process = process }

  public init(_ body: XPCValue) throws(ShapeError) {
    guard let token = body["processToken"] else { throw ShapeError("processToken") }
    process = try ProcessToken(token)
  }

  public var body: XPCValue { ["processToken": process.body] }
}

/// What `listprocesses` answers; the streamed variant pushes the same tokens in pieces.
public struct ProcessList: Equatable, Sendable {
  public var processes: [ProcessToken]

  public init(_ processes: [ProcessToken]) { self.processes = processes }

  public init(_ body: XPCValue) throws(ShapeError) {
    guard let tokens = body["processTokens"]?.array else { throw ShapeError("processTokens") }
    try self.init(elements: tokens)
  }

  /// The pieces of a stream.
  public init(elements: [XPCValue]) throws(ShapeError) {
    processes = []
    for element in elements { processes.append(try ProcessToken(element)) }
  }

  public var elements: [XPCValue] { processes.map(\.body) }
  public var body: XPCValue { ["processTokens": .array(elements)] }
}

/// What `sendsignaltoprocess` is asked for.
public struct SignalInput: Equatable, Sendable {
  public var pid: Int
  public var signal: Int

  public init(pid: Int, signal: Int) {
    self.pid = pid
    self.signal = signal
  }

  public init(_ body: XPCValue) throws(ShapeError) {
    guard let process = body["process"] else { throw ShapeError("process") }
    self.init(pid: try ProcessToken(process).pid, signal: Int(try body.integer("signal")))
  }

  public var body: XPCValue {
    ["process": ["processIdentifier": .int64(Int64(pid))], "signal": .int64(Int64(signal))]
  }
}
