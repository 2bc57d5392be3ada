import DeviceBridge
import Fleet
import Scenarios
import Transport
import Wire

/// What a supervisor works with, from its start to its end: configuration, record, page, whoever is told.
final class SuperviseStage: Sendable {
  let supervisor: Supervisor
  private let context: Context
  private let lock: SupervisorLock?
  private let record: Record?
  private let notify: NotifySocket?
  private let onChange: OnChange?
  private let stateFolder: StateFolder
  private let file: Guarded<SuperviseFile>
  private let page = Guarded<SupervisorPage?>(nil)

  /// Reads and opens everything; nothing is asked of a phone yet.
  init(_ context: Context) async throws(Complaint) {
    let isDry = context.invocation.has("dry-run")
    let isOnce = context.invocation.has("once")
    let scale = try context.usage { () throws(UsageError) in try VirtualOptions.timeScale(context.invocation) } ?? 1
    let mux = try Bench.address(context)
    let file = try SuperviseFile(context)
    let configuration = file.configuration
    try file.expectApp()
    let (state, path) = try Self.places(configuration, context)
    DescriptorLimit.raise()
    lock = isDry ? nil : try Self.lock(path)
    let books: any SupervisorBooks
    if isDry {
      record = nil
      books = await Self.dryBooks(path)
    } else {
      let opened = try await Self.record(path, file, context)
      record = opened
      books = RecordBooks(opened, keep: configuration.record.keep)
    }
    let past: (FleetWatch.Past, [UDID: BodyPast])
    do { past = try await books.past() } catch { throw Complaint(error) }
    notify = isOnce ? nil : NotifySocket(context.environment)
    let output = context.output
    let say: @Sendable (String) -> Void = { output.say("fleetctl: \($0)".printable) }
    onChange = configuration.supervise.onChange.flatMap { command in
      isDry ? nil : OnChange(command, environment: context.environment, masking: file.mask, say: say)
    }
    var world = Supervisor.World(mux: mux, stamps: LaunchStampFolder(state), books: books)
    world.locks = PhoneLocks(environment: context.environment)
    world.runtimeStamps = Self.runtimeFolder(context.environment).map { LaunchStampFolder($0) }
    world.clock = SystemClock(scale: scale)
    world.notify = notify
    world.isDry = isDry
    world.onlyLooks = isOnce
    world.token = file.token
    world.images = file.images(in: state)
    world.leftovers = KilledRuns(UndoNoteFolder(state), environment: context.environment, scale: scale)
    supervisor = Supervisor(
      configuration, past: past, world, Self.ears(context, isOnce: isOnce, onChange, file.mask, say))
    stateFolder = state
    self.context = context
    self.file = Guarded(file)
  }

  private static func ears(
    _ context: Context, isOnce: Bool, _ onChange: OnChange?, _ mask: Mask, _ say: @escaping @Sendable (String) -> Void
  ) -> Supervisor.Ears {
    let (output, json) = (context.output, context.wantsJSON)
    var ears = Supervisor.Ears()
    ears.say = { say(mask($0)) }
    // People see a row when it happens; programs get it with its number.
    if !isOnce, !json { ears.row = { try? output.result(mask(OutcomeText.line($0))) } }
    ears.kept = { row in
      if !isOnce, json { try? output.result(mask(row.json.line)) }
      onChange?.tell(row)
    }
    ears.round = { round in output.detail("round \(round.number) took \(round.took.shown)") }
    return ears
  }

  // MARK: - Places

  private static func places(
    _ configuration: FleetConfiguration, _ context: Context
  ) throws(Complaint) -> (StateFolder, record: String) {
    do throws(HostTrouble) {
      return (try StateFolder.find(context.environment), try configuration.record.path(context.environment))
    } catch { throw Complaint(.harness, error.sentence.printable) }
  }

  /// Where a stamp goes that the state folder's disk does not take.
  private static func runtimeFolder(_ environment: Environment) -> StateFolder? {
    let named = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first.map(String.init)
    let path = named ?? "/run/fleetctl"
    return StateFolder.isUsable(path) ? StateFolder(path: path) : nil
  }

  private static func lock(_ record: String) throws(Complaint) -> SupervisorLock {
    let answer: SupervisorLock.Answer
    do throws(HostTrouble) { answer = try SupervisorLock.take(record: record) } catch {
      throw Complaint(.harness, error.sentence.printable)
    }
    switch answer {
    case .taken(let lock): return lock
    case .held(let holder):
      throw Complaint(
        .harness,
        "\(holder.text) writes to the record \(record) already. A record has one supervisor. ".printable
          + "See what it says: fleetctl status")
    }
  }

  private static func record(
    _ path: String, _ file: SuperviseFile, _ context: Context
  ) async throws(Complaint) -> Record {
    do throws(RecordTrouble) {
      let (record, notices) = try await Record.open(path, masking: file.mask)
      for sentence in notices.compactMap(\.sentence) { context.output.say("fleetctl: \(sentence)".printable) }
      return record
    } catch { throw Complaint(error) }
  }

  /// A dry run begins with what the record knows, where there is one.
  private static func dryBooks(_ path: String) async -> FleetingBooks {
    guard let past = try? await RecordReader(path).past() else { return FleetingBooks() }
    return FleetingBooks(past: past.0, bodies: past.1)
  }

  // MARK: - From start to end

  /// Begins to supervise, and serves the page.
  func open() throws(Complaint) {
    let isDry = context.invocation.has("dry-run")
    let (output, settings) = (context.output, file.with { $0.configuration.supervise })
    if !isDry {
      var page = SupervisorPage.Settings(
        settings, socket: SupervisorClient.socket(in: stateFolder), version: Program.version)
      page.environment = context.environment
      page.log = { output.say("fleetctl: \($0)".printable) }
      do throws(PageTrouble) {
        let served = try SupervisorPage(view: supervisor, settings: page)
        try served.start()
        self.page.with { $0 = served }
        for address in served.addresses { output.detail("page: \(address)".printable) }
      } catch {
        throw Complaint(error.isOfConfiguration ? .usage : .harness, error.sentence.printable)
      }
    }
    supervisor.start()
  }

  /// Ends the supervisor, and lets the record have what is left.
  func farewell() async {
    let (supervisor, record, page) = (supervisor, record, page.with { $0 })
    await onThread("farewell") {
      page?.stop()
      supervisor.stop(by: .after(.milliseconds(1_200)))
    }
    onChange?.stop(by: .after(.milliseconds(100)))
    if let record {
      do throws(RecordTrouble) { try await record.close(within: .milliseconds(400)) } catch {
        context.output.say("fleetctl: \(error.sentence)".printable)
      }
    }
  }

  /// Lets go of the record, so that another supervisor may begin.
  func end() { lock?.release() }

  /// Reads the configuration anew, and tells what has changed; a wrong one is refused.
  func reload() {
    let (context, supervisor, notify, state) = (context, supervisor, notify, stateFolder)
    notify?.reloading()
    _ = Worker(name: "reload") { [file, record] in
      defer { notify?.ready() }
      let before = file.with { $0 }
      let result: String
      do throws(Complaint) {
        let after = try SuperviseFile(context)
        try after.expectApp()
        let changes = after.changes(from: before)
        file.with { $0 = after }
        supervisor.apply(after.configuration, token: after.token, images: after.images(in: state))
        result = changes.isEmpty ? "nothing has changed" : changes.joined(separator: "; ")
        context.output.say(after.mask("The configuration was read anew: \(result).").printable)
        for line in after.waiting(from: before) { context.output.say(line) }
      } catch {
        result = "refused"
        context.output.complain("\(error.sentence) The configuration from before is kept.")
      }
      let row = ActionRow(.reload, at: WallClock.now(), result: result)
      if let record { Task { try? await record.act(row, within: .seconds(5)) } }
    }
  }
}

extension PageTrouble {
  /// Whether the configuration is at fault, and not this machine.
  fileprivate var isOfConfiguration: Bool {
    switch self {
    case .address, .noToken, .token: true
    case .listen, .server: false
    }
  }
}
