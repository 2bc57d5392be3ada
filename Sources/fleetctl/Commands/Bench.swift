import DeviceBridge
import Fleet
import Transport
import Wire

/// What every command that touches phones works with: the configuration and the way to the phones.
struct Bench: Sendable {
  /// Longest for one question to the daemon.
  static let muxLimit = Duration.seconds(5)
  /// Between two looks of --wait.
  private static let pause = Duration.milliseconds(250)

  let configuration: FleetConfiguration
  let mux: MuxAddress
  /// nil where its place can't be told.
  private let record: RecordReader?

  init(_ context: Context) throws(Complaint) {
    mux = try Self.address(context)
    do {
      configuration = try FleetConfiguration.find(
        explicit: context.invocation.value("config"), environment: context.environment)
    } catch {
      throw Complaint(
        .usage,
        "The configuration is wrong, and nothing ran. \(error.description.printableLines). "
          + "Correct it and run the command again.")
    }
    record = (try? configuration.record.path(context.environment)).map { RecordReader($0, within: .seconds(2)) }
    context.output.detail("usbmux: \(mux)".printable)
    context.output.detail("configuration: \(configuration.file ?? "none, the defaults hold")".printable)
  }

  /// --mux, else USBMUXD_SOCKET_ADDRESS, else the system's socket.
  static func address(_ context: Context) throws(Complaint) -> MuxAddress {
    let command = context.invocation.command.name
    if let text = context.invocation.value("mux") {
      guard let address = address(text) else {
        throw Complaint(
          .badValue(
            option: "mux", value: text, wanted: "an absolute path, UNIX:PATH or HOST:PORT", command: command))
      }
      return address
    }
    guard let text = context.environment["USBMUXD_SOCKET_ADDRESS"], !text.isEmpty else { return .system }
    guard let address = address(text) else {
      throw Complaint(
        .usage,
        "USBMUXD_SOCKET_ADDRESS is '\(text.printable)', which is no address. It takes an absolute path, UNIX:PATH or HOST:PORT. "
          + "Correct it, or name the socket: fleetctl \(command) --mux ADDRESS.")
    }
    return address
  }

  /// An address as people type it; its path means the same to whoever else is told of it.
  static func address(_ text: String) -> MuxAddress? {
    switch MuxAddress(text) {
    case .unix(let path)?: path.isEmpty ? nil : .unix(path: WorkingFolder.absolute(path))
    case .tcp(let host, let port)?: host.contains("/") ? nil : .tcp(host: host, port: port)
    case nil: nil
    }
  }

  /// The phones that the daemon shows now.
  func phones() async throws(PhoneError) -> [ListedPhone] {
    try await Mux(address: mux).phones(by: .after(Self.muxLimit))
  }

  /// The bodies, and which phones they are.
  func bodies() async throws(Complaint) -> BodySelection {
    do { return BodySelection(configuration, phones: try await phones()) } catch { throw Complaint(error) }
  }

  /// The body that a command was given; it may be absent, and its lane says so then.
  ///
  /// - Parameter wait: how long it may take to be attached by cable.
  func body(_ typed: String, wait: Duration = .zero) async throws(Complaint) -> Body {
    let limit = Deadline.after(wait)
    while true {
      let result: Result<Body, Complaint>
      do { result = .success(try await resolve(typed)) } catch { result = .failure(error) }
      let canAppear =
        switch result {
        case .success(let body): body.phone?.transport != .usb
        // A phone that is to be plugged in is not known yet; a name that is wrong will not become right.
        case .failure(let complaint): complaint.code == .harness || UDID(wellFormed: typed) != nil
        }
      guard canAppear, !limit.hasPassed, await Self.rest() else { return try result.get() }
    }
  }

  private func resolve(_ typed: String) async throws(Complaint) -> Body {
    let selection = try await bodies()
    do throws(BodySelectionError) { return try selection.resolve(typed) } catch {
      if case .unknown = error, let absent = await recorded(typed) { return absent }
      throw Complaint(error.exitCode, error.sentence)
    }
  }

  /// A whole UDID that the record knows: absent, but not unknown.
  private func recorded(_ typed: String) async -> Body? {
    guard configuration.bodies == nil, let udid = UDID(wellFormed: typed), let record,
      let past = try? await record.past().1, past[udid] != nil
    else { return nil }
    return Body(BodyEntry(udid: udid, under: configuration), phone: nil)
  }

  /// - Returns: false when the command is being ended.
  static func rest() async -> Bool {
    do { try await ContinuousClock().sleep(for: pause) } catch { return false }
    return true
  }
}

extension Body {
  /// The lane of an attached phone.
  ///
  /// - Throws: `.absent`, or `.networkOnly` for a phone that is never connected to.
  func lane(_ mux: MuxAddress) throws(PhoneError) -> PhoneLane {
    guard let phone else { throw .absent(udid) }
    guard phone.transport == .usb else { throw .networkOnly(udid) }
    return PhoneLane(phone, mux: mux)
  }
}

extension Complaint {
  init(_ error: PhoneError) { self.init(error.isUsage ? .usage : .harness, error.sentence) }

  /// No configuration names the app that a command is about.
  static let noApp = Complaint(
    .usage,
    "No app is named. fleet.yaml has no app: {bundle: …}, or there is no fleet.yaml. "
      + "Write that line into it, or a new file: fleetctl init --app BUNDLE.")
}

extension Invocation {
  /// An option's value as a span of time.
  func duration(_ option: String) throws(UsageError) -> Duration? {
    guard let text = value(option) else { return nil }
    guard let duration = Duration(text: text) else {
      throw .badValue(
        option: option, value: text, wanted: "a span of time such as 500ms, 10s or 5m", command: command.name)
    }
    return duration
  }
}

extension Invocation {
  /// The same, of a time in which something can be done: not zero.
  func positiveDuration(_ option: String) throws(UsageError) -> Duration? {
    let duration = try duration(option)
    if duration == .zero {
      throw .badValue(
        option: option, value: value(option) ?? "", wanted: "a span of time above zero, such as 10s",
        command: command.name)
    }
    return duration
  }
}

extension Context {
  /// Tells results. An answer that was found outweighs that it cannot be told.
  ///
  /// - Parameter found: what the command ends with once they are told; nil for success.
  func tell(_ found: Complaint?, _ write: () throws(Complaint) -> Void) throws(Complaint) {
    do { try write() } catch {
      if let found, found.code == .no || found.code == .usage { throw found }
      throw error
    }
    if let found { throw found }
  }
}

extension OptionSpec {
  static func wait(_ help: String) -> OptionSpec { .value("wait", "DURATION", help) }
}
