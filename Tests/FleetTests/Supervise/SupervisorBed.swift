import DeviceBridge
import Fleet
import Glibc
import Transport
import VirtualPhone
import Wire

/// Virtual phones, a record, and a supervisor over them, in scaled time.
final class SupervisorBed: Sendable {
  let fleet: VirtualFleet
  let mux: MuxAddress
  let scratch: Scratch
  let clock: SystemClock
  let rows = Guarded<[OutcomeReport]>([])
  let kept = Guarded<[OutcomeReport]>([])
  let said = Guarded<[String]>([])
  let rounds = Guarded(0)
  private let supervisor = Guarded<Supervisor?>(nil)

  static let scale = 20.0

  init(_ ios: String..., phones: Int? = nil, scale: Double = SupervisorBed.scale, bulk: Bool = false) throws {
    signal(SIGPIPE, SIG_IGN)
    scratch = try Scratch()
    var options = VirtualFleet.Options(address: .unix(path: "\(scratch.path)/mux"))
    options.phones = phones ?? max(1, ios.count)
    if !ios.isEmpty { options.ios = ios }
    options.timeScale = scale
    fleet = try VirtualFleet(options)
    mux = .unix(path: "\(scratch.path)/mux")
    clock = SystemClock(scale: scale)
  }

  deinit {
    supervisor.with { $0 }?.stop(by: .after(.seconds(5)))
    fleet.stop()
  }

  /// Short times, so that a test takes seconds.
  func configuration(_ change: (inout FleetConfiguration) -> Void = { _ in }) -> FleetConfiguration {
    var configuration = FleetConfiguration()
    configuration.app.bundle = "com.example.kiosk"
    configuration.supervise.every = .seconds(2)
    configuration.supervise.grace = .seconds(4)
    configuration.supervise.spacing = .seconds(10)
    configuration.supervise.settle = .seconds(2)
    configuration.supervise.answerWithin = .seconds(5)
    change(&configuration)
    return configuration
  }

  var recordPath: String { "\(scratch.path)/fleet.sqlite" }
  var state: StateFolder { StateFolder(path: scratch.path) }
  var locks: PhoneLocks { PhoneLocks(folder: "\(scratch.path)/locks") }

  /// Starts one over the record; the one before, if any, must have been stopped.
  @discardableResult
  func start(
    _ configuration: FleetConfiguration? = nil, books: (any SupervisorBooks)? = nil,
    _ change: (inout Supervisor.World) -> Void = { _ in }
  ) async throws -> Supervisor {
    let own: any SupervisorBooks
    if let books {
      own = books
    } else {
      own = RecordBooks(try await Record.open(recordPath).record, keep: .seconds(86_400))
    }
    var world = Supervisor.World(mux: mux, stamps: LaunchStampFolder(state), books: own)
    world.locks = locks
    world.clock = clock
    world.muxPauses = [.milliseconds(50)]
    change(&world)
    var ears = Supervisor.Ears()
    ears.row = { [rows] row in rows.with { $0.append(row) } }
    ears.kept = { [kept] row in kept.with { $0.append(row) } }
    ears.say = { [said] line in said.with { $0.append(line) } }
    ears.round = { [rounds] _ in rounds.with { $0 += 1 } }
    let new = Supervisor(configuration ?? self.configuration(), past: try await own.past(), world, ears)
    new.start()
    supervisor.with { $0 = new }
    return new
  }

  func stop() { supervisor.with { $0 }?.stop(by: .after(.seconds(5))) }

  func `do`(_ action: String, on phone: Int = 1, _ values: [String: String] = [:]) throws {
    try fleet.perform(action, on: "\(phone)", values)
  }

  func udid(_ phone: Int = 1) -> UDID { fleet.phones[phone - 1].udid }

  /// The words of the rows of one phone, or (nil) of the host.
  func words(_ phone: Int? = 1) -> [String] {
    let udid = phone.map { self.udid($0) }
    return rows.with { rows in rows.filter { $0.udid == udid }.map(\.words.text) }
  }

  /// Waits until the phone's rows are these.
  func rows(_ expected: String..., of phone: Int? = 1, within limit: Duration = .seconds(20)) async -> Bool {
    await eventually(within: limit) { words(phone) == expected }
  }

  /// Waits for so many more completed rounds.
  func rounds(_ count: Int) async -> Bool {
    let target = rounds.with { $0 } + count
    return await eventually { rounds.with { $0 } >= target }
  }

  /// How many launches reached the phone.
  func launches(_ phone: Int = 1) -> Int {
    let udid = udid(phone)
    return fleet.journal.entries().count {
      $0.udid == udid && ["launch-requested", "coredevice-launch"].contains($0.event)
    }
  }
}

extension SupervisorBed {
  /// An action on phone 1.
  func `do`(_ action: String, _ values: [String: String]) throws { try `do`(action, on: 1, values) }

  /// How often the host connected to that port of the phone.
  func connects(_ phone: Int, port: Int) -> Int {
    let udid = udid(phone)
    return fleet.journal.entries().count {
      $0.udid == udid && $0.event == "mux-request" && $0.details["request"] == "Connect"
        && $0.details["port"]?.int == port
    }
  }

  /// A run takes the phone.
  func hold(_ phone: Int) async throws -> LeaseAnswer {
    try await locks.acquire(udid(phone), on: mux, as: .current(.run, run: 17), wait: .after(.seconds(5)))
  }

  /// A folder with an image for that iOS.
  func imageFolder(for ios: String) throws -> String {
    let folder = "\(scratch.path)/images"
    mkdir(folder, 0o700)
    mkdir("\(folder)/\(ios)", 0o700)
    try Scratch.write("image", to: "\(folder)/\(ios)/DeveloperDiskImage.dmg")
    try Scratch.write("signature", to: "\(folder)/\(ios)/DeveloperDiskImage.dmg.signature")
    return folder
  }
}
