import Glibc
import Transport
import VirtualPhone

/// The options that shape a fleet of virtual phones, shared by `virtual` and `run --virtual`.
enum VirtualOptions {
  static let ios = OptionSpec.value("ios", "V,…", "their iOS versions, given to the phones in turn: \(versions)")
  static let timeScale = OptionSpec.value("time-scale", "K", "how many times as fast their own clocks run")

  private static var versions: String { PhonePreset.all.map(\.ios).joined(separator: " ") }

  /// Fills in what the command line says about the phones themselves.
  static func read(_ invocation: Invocation, into options: inout VirtualFleet.Options) throws(UsageError) {
    if let versions = try invocation.list("ios") {
      options.ios = versions
      if let odd = versions.first(where: { PhonePreset.named($0) == nil }) {
        throw .badValue(
          option: "ios", value: odd, wanted: "versions that have a virtual phone: \(Self.versions)",
          command: invocation.command.name)
      }
    }
    if let scale = try invocation.factor("time-scale", upTo: 10_000) { options.timeScale = scale }
  }

  /// Where the mux shall listen, by --socket or --listen.
  ///
  /// - Returns: nil where neither is given.
  static func address(_ invocation: Invocation) throws(UsageError) -> SocketAddress? {
    let command = invocation.command.name
    if invocation.has("socket"), invocation.has("listen") {
      throw .contradiction("--socket and --listen were both given. The phones listen at one place.", command: command)
    }
    if let path = invocation.value("socket") {
      let path = absolute(path)
      guard path.utf8.count <= SocketAddress.maximumPathBytes else {
        throw .badValue(
          option: "socket", value: path, wanted: "a path of at most \(SocketAddress.maximumPathBytes) bytes",
          command: command)
      }
      return .unix(path: path)
    }
    guard let text = invocation.value("listen") else { return nil }
    guard let address = loopback(text) else {
      // Whoever reaches the mux owns the phones; these have no other guard than the loopback.
      throw .badValue(
        option: "listen", value: text, wanted: "a loopback address and port, such as 127.0.0.1:0", command: command)
    }
    return address
  }

  static func loopback(_ text: String) -> SocketAddress? {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    let host = String(text[..<colon])
    if host == "[::1]" { return .tcp(host: "::1", port: port) }
    if host == "localhost" { return .tcp(host: "127.0.0.1", port: port) }
    var address = in_addr()
    guard inet_pton(AF_INET, host, &address) == 1, UInt32(bigEndian: address.s_addr) >> 24 == 127 else { return nil }
    return .tcp(host: host, port: port)
  }

  /// The path as other processes can use it, wherever they are started.
  static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return "\(String(cString: folder))/\(path)"
  }
}
