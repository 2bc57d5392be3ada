import Glibc
import Transport
import VirtualPhone

/// The options that shape a fleet of virtual phones, shared by `virtual` and `run --virtual`.
enum VirtualOptions {
  static let ios = OptionSpec.value("ios", "V,…", "their iOS versions, given to the phones in turn: \(versions)")
  static let timeScale = OptionSpec.value(
    "time-scale", "K", "how many times as fast their own clocks run, \(VirtualFleet.Options.timeScales.words)")
  static let manners = OptionSpec.value(
    "manners", "KIND",
    "plain: a phone is listed at once, whatever is asked is answered (the default); real: as usbmuxd 1.1.1 does it",
    choices: MuxManners.allCases.map(\.rawValue))

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
    if let scale = try timeScale(invocation) { options.timeScale = scale }
    if let manners = invocation.value("manners").flatMap(MuxManners.init) { options.manners = manners }
  }

  static func timeScale(_ invocation: Invocation) throws(UsageError) -> Double? {
    try invocation.factor("time-scale", in: VirtualFleet.Options.timeScales)
  }

  /// Where the mux shall listen, by --socket or --listen.
  ///
  /// - Returns: nil where neither is given.
  static func address(_ invocation: Invocation) throws(UsageError) -> SocketAddress? {
    let command = invocation.command.name
    if invocation.has("socket"), invocation.has("listen") {
      throw .contradiction("--socket and --listen were both given. The phones listen at one place.", command: command)
    }
    if let path = try socketPath("socket", invocation) { return .unix(path: path) }
    guard let text = invocation.value("listen") else { return nil }
    guard let address = loopback(text) else {
      // Whoever reaches the mux owns the phones; these have no other guard than the loopback.
      throw .badValue(
        option: "listen", value: text, wanted: "a loopback address and port, such as 127.0.0.1:0", command: command)
    }
    return address
  }

  /// An option's value as the absolute path of a socket.
  static func socketPath(_ option: String, _ invocation: Invocation) throws(UsageError) -> String? {
    guard let text = invocation.value(option) else { return nil }
    let path = WorkingFolder.absolute(text)
    guard !text.isEmpty, !text.utf8.contains(0), path.utf8.count <= SocketAddress.maximumPathBytes else {
      throw .badValue(
        option: option, value: text.isEmpty ? text : path,
        wanted: "a path of at most \(SocketAddress.maximumPathBytes) bytes", command: invocation.command.name)
    }
    return path
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
}
