import Transport
import Wire

/// The kiosk app of one virtual phone, and the other apps as far as they push it from the front: installed builds,
/// processes, cameras, and the door.
public final class KioskApp: Sendable {
  public struct Settings: Sendable {
    public var bundle = "com.example.kiosk"
    public var doorPort: UInt16 = 8127
    /// The bearer token that the door asks for; nil asks for none.
    public var token: String?
    /// Whether it runs, in front, when the fleet starts.
    public var startsInFront = true

    public init(bundle: String = "com.example.kiosk", doorPort: UInt16 = 8127, token: String? = nil) {
      self.bundle = bundle
      self.doorPort = doorPort
      self.token = token
    }
  }

  /// How long iOS lets the app run on without being in front. Real phones give some 30 s; twice that and more leaves
  /// a scenario its time on a fast clock.
  public static let backgroundTime = Duration.seconds(180)

  let settings: Settings
  let surroundings: AppSurroundings
  let timers: PhoneTimers
  let model = Guarded(AppModel())

  init(_ settings: Settings, in surroundings: AppSurroundings) {
    self.settings = settings
    self.surroundings = surroundings
    timers = surroundings.timers ?? PhoneTimers(clock: surroundings.clock)
    model.with {
      for app in InstalledApp.system { $0.installed[app.bundle] = app }
      $0.door.token = settings.token
    }
    install()
    if settings.startsInFront { launch() }
  }

  deinit { shutDown() }

  // MARK: What happens to the phone

  /// The phone asks for its passcode from now on; its state says so already.
  public func phoneLocked() {
    model.with {
      $0.camera.claim?.interrupted.open()
      limitBackgroundTime(&$0)
    }
  }

  /// What is in front runs on, behind no lock screen any more.
  public func phoneUnlocked() {
    model.with { if $0.front == settings.bundle { comeForward(&$0, lifting: [.system]) } }
  }

  /// Everything that ran is gone, and nothing is started by itself.
  public func phoneRebooted() {
    model.with { model in
      for process in model.processes.values { end(process, .signal(9), in: &model) }
      model.front = nil
      model.camera.fault = nil
    }
  }

  /// Ends every connection, thread and timer of the app for good.
  public func shutDown() {
    model.with { model in
      for process in model.processes.values { end(process, .signal(9), in: &model) }
    }
    if surroundings.timers == nil { timers.stop() }
  }

  // MARK: What happens to the app

  /// Brings the app to the front, starting it where it does not run; the phone's lock has its say.
  @discardableResult
  public func launch(arguments: [String] = [], environment: [String: String] = [:]) -> LaunchOutcome {
    launch(settings.bundle, arguments: arguments, environment: environment, fresh: false)
  }

  public func kill() { kill(settings.bundle) }

  /// Stops the process: its port still accepts, and nothing answers.
  public func suspend() { model.with { $0.processes[settings.bundle]?.stop(.tester) } }

  public func resume() {
    model.with { model in
      guard let process = model.processes[settings.bundle] else { return }
      process.go(on: [.system, .tester, .debugger, .host])
      if model.front != settings.bundle { limitBackgroundTime(&model) }
      planRescue(&model)
    }
  }

  /// As a person would who taps its icon; nothing happens where it is not installed.
  public func bringToFront() { launch() }

  /// Another app, or the home screen, comes in front.
  ///
  /// - Parameter bundle: what takes its place; nil is the home screen.
  public func sendToBackground(behind bundle: String? = nil, for time: Duration = backgroundTime) {
    model.with { model in
      model.front = bundle
      leaveFront(&model, for: time)
    }
  }

  // MARK: What can be seen

  /// Process ids and executable names of the apps that run.
  public var processes: [Int: String] {
    model.with { model in
      Dictionary(model.processes.values.map { ($0.pid, $0.executable) }, uniquingKeysWith: { _, last in last })
    }
  }

  /// In front, and not behind the lock screen.
  public var isActive: Bool {
    !surroundings.isLocked() && model.with { $0.front == settings.bundle && $0.processes[settings.bundle] != nil }
  }

  /// The red band's text; nil while no capture runs.
  public var band: String? { model.with { $0.camera.band?.text } }

  /// The files that it has in its container's tmp, by path in the container, with their size in bytes.
  public var files: [String: Int] {
    let files = container(settings.bundle)?.with { $0.files(in: "/tmp") } ?? [:]
    return Dictionary(files.map { ("tmp/\($0.key)", $0.value) }, uniquingKeysWith: { _, last in last })
  }

  /// An app's data folder; nil for apps that show none.
  func container(_ bundle: String) -> Guarded<FileTree>? { model.with { $0.containers[bundle] } }

  func installed(_ bundle: String) -> InstalledApp? { model.with { $0.installed[bundle] } }
  var allInstalled: [InstalledApp] { model.with { $0.installed.values.sorted { $0.bundle < $1.bundle } } }
  func process(_ bundle: String) -> AppProcess? { model.with { $0.processes[bundle] } }
  func process(pid: Int) -> AppProcess? { model.with { $0.processes.values.first { $0.pid == pid } } }
}
