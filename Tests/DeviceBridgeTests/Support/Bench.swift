import DeviceBridge
import Glibc
import Transport
import VirtualPhone
import Wire

/// A folder of this test's own, gone with the object.
final class Folder: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/bridge-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Trouble("no folder: \(Errno.text(errno))") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    for name in contents() { unlink("\(path)/\(name)") }
    rmdir(path)
  }

  private func contents() -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names.filter { $0 != "." && $0 != ".." }
  }
}

/// What keeps a test from being one.
struct Trouble: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Virtual phones at the far end of a socket, and what the bridge knows of them.
final class Bench: Sendable {
  let fleet: VirtualFleet
  let mux: MuxAddress
  private let folder: Folder

  init(_ ios: String..., phones: Int? = nil, trusted: Bool = true) throws {
    // As the executable does: OpenSSL writes to whatever has just been closed.
    signal(SIGPIPE, SIG_IGN)
    folder = try Folder()
    var options = VirtualFleet.Options(address: .unix(path: "\(folder.path)/mux"))
    options.phones = phones ?? max(1, ios.count)
    if !ios.isEmpty { options.ios = ios }
    options.trusted = trusted
    fleet = try VirtualFleet(options)
    mux = .unix(path: "\(folder.path)/mux")
  }

  deinit { fleet.stop() }

  func listed() async throws -> [ListedPhone] { try await Mux(address: mux).phones(by: .after(.seconds(10))) }

  /// A lane to the phone with that number, counted from 1.
  func lane(_ number: Int = 1) async throws -> PhoneLane {
    let udid = fleet.phones[number - 1].udid
    guard let phone = try await listed().first(where: { $0.udid == udid }) else { throw Trouble("phone not listed") }
    return PhoneLane(phone, mux: mux)
  }

  /// An action, on phone 1 if no other is said.
  func `do`(_ action: String, on phone: Int = 1, _ values: [String: String] = [:]) throws {
    try fleet.perform(action, on: "\(phone)", values)
  }

  /// An action on phone 1.
  func `do`(_ action: String, _ values: [String: String]) throws { try `do`(action, on: 1, values) }

  /// How many entries of that kind the journal has.
  func count(_ event: String, where matches: ([String: JSON]) -> Bool = { _ in true }) -> Int {
    fleet.journal.entries().count { $0.event == event && matches($0.details) }
  }
}

extension Bench {
  /// How often the host connected to that port.
  func connects(to port: Int) -> Int {
    count("mux-request") { $0["request"] == "Connect" && $0["port"]?.int == port }
  }

  /// What lockdown was asked, in order.
  func requests() -> [String] {
    fleet.journal.entries().filter { $0.event == "lockdown-request" }.compactMap { $0.details["request"]?.string }
  }
}

extension Deadline {
  /// Long enough for a busy machine; a test that waits so long has failed.
  static var patient: Deadline { .after(.seconds(60)) }
}
