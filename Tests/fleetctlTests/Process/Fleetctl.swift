import DeviceBridge
import Fleet
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

/// The program under test, beside the tests in the build folder.
///
/// Suites that start it are serialized: a child for each test at once would starve whatever else is measured.
enum Fleetctl {
  static let path: String = {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count)
    let own = String(decoding: path.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return own.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/fleetctl"
  }()

  struct Done: Sendable {
    var ending: ChildProcess.Ending
    var output: ChildProcess.Output
    var code: Int32? { if case .exited(let code) = ending { code } else { nil } }
  }

  /// Runs it to its end, in an environment of its own: no configuration of this machine is found.
  static func run(
    _ arguments: [String], environment: [String: String] = [:], stdout: ChildProcess.Stdout = .collected,
    within limit: Duration = .seconds(20)
  ) async -> Done {
    let child = start(arguments, environment: environment, stdout: stdout)
    let ending = await child.ending(within: limit)
    return Done(ending: ending, output: child.output)
  }

  static func start(
    _ arguments: [String], environment: [String: String] = [:], stdout: ChildProcess.Stdout = .collected
  ) -> ChildProcess {
    let base = [
      "PATH": "/usr/bin:/bin", "XDG_CONFIG_HOME": "/nonexistent", "HOME": "/nonexistent",
      "STATE_DIRECTORY": TestState.folder,
    ]
    return ChildProcess(path, arguments, environment: base.merging(environment) { $1 }, stdout: stdout)
  }
}

/// State of commands whose state no test looks at; removed when the tests are over.
enum TestState {
  private static let made = TestFolder()
  static let folder: String = {
    atexit { TestFolder.remove(TestState.made.path) }
    return made.path
  }()
}

/// A folder of the test's own, removed with everything in it.
final class TestFolder: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/fleetctl-test-XXXXXX".utf8CString)
    _ = mkdtemp(&template)
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.remove(path) }

  static func remove(_ path: String) {
    for name in names(in: path) where unlink("\(path)/\(name)") != 0 { remove("\(path)/\(name)") }
    rmdir(path)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ text: String, to name: String) -> String { write(Array(text.utf8), to: name) }

  func write(_ bytes: [UInt8], to name: String) -> String {
    let fd = open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    _ = bytes.withUnsafeBytes { Glibc.write(fd, $0.baseAddress, $0.count) }
    close(fd)
    return file(name)
  }

  /// What is in it.
  var names: [String] { Self.names(in: path) }

  /// Every file in it and below it, with its bytes.
  var files: [String: [UInt8]] { Self.files(in: path) }

  private static func files(in path: String) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for name in names(in: path) {
      var info = stat()
      let whole = "\(path)/\(name)"
      guard lstat(whole, &info) == 0 else { continue }
      switch info.st_mode & S_IFMT {
      case S_IFDIR: files.merge(Self.files(in: whole)) { $1 }
      case S_IFREG: files[whole] = (try? Files.host.read(whole, 1 << 30)) ?? []
      default: break
      }
    }
    return files
  }

  func read(_ name: String) -> String? {
    (try? Files.host.read(file(name), 1 << 30)).map { String(decoding: $0, as: UTF8.self) }
  }

  static func names(in path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }
}

/// Virtual phones in this process, on sockets in a folder of their own.
final class TestPhones: Sendable {
  let folder = TestFolder()
  let fleet: VirtualFleet

  init(_ count: Int = 1, ios: [String] = ["16.7"], timeScale: Double = 20, token: String? = nil) throws {
    // OpenSSL writes without MSG_NOSIGNAL; the program ignores the signal, and so must this process.
    signal(SIGPIPE, SIG_IGN)
    var options = VirtualFleet.Options(address: .unix(path: folder.file("mux")))
    options.control = folder.file("control")
    options.phones = count
    options.ios = ios
    options.timeScale = timeScale
    options.token = token
    fleet = try VirtualFleet(options)
  }

  deinit { fleet.stop() }

  func udid(_ number: Int) -> String { fleet.phones[number - 1].udid.description }

  /// A configuration that names the phones' app.
  var environment: [String: String] {
    [
      "USBMUXD_SOCKET_ADDRESS": fleet.address.description, "FLEETCTL_VIRTUAL": folder.file("control"),
      "FLEETCTL_CONFIG": folder.write("version: 1\napp: {bundle: com.example.kiosk}\n", to: "fleet.yaml"),
      "FLEETCTL_LOCK_FOLDER": folder.file("locks"), "STATE_DIRECTORY": folder.file("state"),
    ]
  }

  /// Waits until the host has sent such a request to the mux or to lockdown so often.
  func asked(_ request: String, times: Int, within limit: Duration = .seconds(20)) async {
    _ = await tells(within: limit) { $0.count { $0.details["request"]?.string == request } >= times }
  }

  /// Where the phones' locks are for commands that run in `environment`.
  var locks: PhoneLocks { PhoneLocks(folder: folder.file("locks")) }

  /// Holds a phone as another process would.
  func hold(_ number: Int, as holder: Holder) async throws -> PhoneLease? {
    let mux = try #require(MuxAddress(fleet.address.description))
    let answer = try await locks.acquire(fleet.phones[number - 1].udid, on: mux, as: holder, wait: .after(.zero))
    if case .taken(let lease, _) = answer { return lease }
    return nil
  }

  /// Waits until the host has done such a thing to a phone.
  func saw(_ event: String, within limit: Duration = .seconds(20)) async -> Bool {
    await tells(within: limit) { $0.contains { $0.event == event } }
  }

  /// Waits until the host has done something more to the phones.
  func goesOn(after count: Int, within limit: Duration = .seconds(20)) async -> Bool {
    await tells(within: limit) { $0.count > count }
  }

  /// Waits until the journal fulfils the condition.
  func tells(
    within limit: Duration = .seconds(20), _ condition: @escaping @Sendable ([JournalEntry]) -> Bool
  ) async -> Bool {
    await onWorker { [journal = fleet.journal] in
      let deadline = Deadline.after(limit)
      while true {
        let entries = journal.entries()
        if condition(entries) { return true }
        guard !deadline.hasPassed, journal.wait(after: entries.last?.seq ?? 0, until: deadline) else { return false }
      }
    }
  }

  func run(_ arguments: String..., stdout: ChildProcess.Stdout = .collected) async -> Fleetctl.Done {
    await Fleetctl.run(arguments, environment: environment, stdout: stdout)
  }
}
