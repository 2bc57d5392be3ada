import DeviceBridge
import Fleet
import Glibc
import Transport
import VirtualPhone
import Wire

/// Where a run takes place: the bodies and the way to them; for `--virtual` also the phones themselves.
final class RunStage: Sendable {
  let bodies: [Body]
  /// Those that are meant too, and are not judged.
  let outOfService: [Body]
  /// The bodies as fleet.yaml has them, where the command line names another app or port for this run.
  let configured: [UDID: Body]
  let mux: MuxAddress
  let secrets: [Secret]
  /// nil for phones that bring their images along.
  let images: ImageSettings?
  private let fleet: VirtualFleet?
  private let folder: PrivateFolder?

  /// The bodies that the command line means, on phones that are attached.
  init(_ options: RunOptions, _ bench: Bench) async throws(Complaint) {
    let selection = try await bench.bodies()
    var chosen = selection.bodies
    if !options.bodies.isEmpty {
      do { chosen = try selection.resolve(options.bodies) } catch {
        throw Complaint(error.exitCode, error.sentence)
      }
    }
    let ports = USBPorts().all()
    for index in chosen.indices { chosen[index].usbPort = ports[chosen[index].udid] }
    let today = CalendarDay.today()
    outOfService = chosen.filter { $0.outOfService?.holds(on: today) ?? false }
    let inService = chosen.filter { !($0.outOfService?.holds(on: today) ?? false) }
    bodies = inService.map { options.rules.applied(to: $0) }
    configured = Dictionary(inService.map { ($0.udid, $0) }, uniquingKeysWith: { first, _ in first })
    mux = bench.mux
    secrets = Array(bench.configuration.secrets.values)
    images = bench.configuration.images
    fleet = nil
    folder = nil
    if bodies.count > 1, options.bodies.isEmpty, !options.all {
      // A typo must not disturb a shelf of kiosks.
      let names = bodies.prefix(6).map { $0.title.printable }.joined(separator: ", ")
      throw Complaint(
        .usage,
        "This run would touch \(bodies.count) phones: \(names)\(bodies.count > 6 ? ", …" : ""). "
          + "Neither --body nor --all says that it may. Name them: fleetctl run --body NAME, or fleetctl run --all.")
    }
  }

  /// Virtual phones of this run's own.
  init(_ options: RunOptions, virtual count: Int, _ context: Context) async throws(Complaint) {
    let (wanted, rules) = (options.bodies, options.rules)
    outOfService = []
    images = nil
    let folder = try PrivateFolder(environment: context.environment)
    self.folder = folder
    let control = folder.file("control")
    context.interruption.removeWhenLeaving(Self.files.map(folder.file) + [folder.path])
    var isReady = false
    do throws(Complaint) {
      var options = VirtualFleet.Options(address: .unix(path: folder.file("usbmuxd")))
      options.control = control
      options.phones = count
      options.token = try Self.token(in: folder)
      try context.usage { () throws(UsageError) in try VirtualOptions.read(context.invocation, into: &options) }
      let fleet: VirtualFleet
      do { fleet = try VirtualFleet(options) } catch { throw Complaint(.harness, error.sentence) }
      self.fleet = fleet
      defer { if !isReady { fleet.stop() } }
      mux = .unix(path: folder.file("usbmuxd"))
      secrets = []
      let lab = VirtualLab(executable: try VirtualLab.ownExecutable(), control: control)
      let listed: [ListedPhone]
      do { listed = try await Mux(address: mux).phones(by: .after(Bench.muxLimit)) } catch { throw Complaint(error) }
      let all = fleet.phones.enumerated().map { index, phone in
        lab.body(
          of: phone, number: index + 1, as: listed.first { $0.udid == phone.udid }, bundle: options.bundle,
          tokenFile: folder.file("token"))
      }
      bodies = (wanted.isEmpty ? all : try Self.chosen(wanted, from: all)).map { rules.applied(to: $0) }
      configured = Dictionary(all.map { ($0.udid, $0) }, uniquingKeysWith: { first, _ in first })
      isReady = true
    } catch {
      folder.remove(Self.files)
      throw error
    }
  }

  /// What a run on virtual phones keeps in its folder.
  private static let files = ["usbmuxd", "control", "token"]

  /// The doors of virtual phones ask for a token, as real ones should.
  private static func token(in folder: PrivateFolder) throws(Complaint) -> String {
    let token = (0..<4).map { _ in String(UInt64.random(in: 0 ... .max), radix: 36) }.joined()
    let path = folder.file("token")
    let fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    let bytes = Array(token.utf8)
    let isWritten = fd >= 0 && write(fd, bytes, bytes.count) == bytes.count
    let code = errno
    if fd >= 0 { close(fd) }
    guard isWritten else {
      throw Complaint(
        .harness,
        "The virtual phones' token could not be written: \(Errno.text(code)). The temporary folder may be full. "
          + "Set TMPDIR to another one and run the command again.")
    }
    return token
  }

  private static func chosen(_ wanted: [String], from all: [Body]) throws(Complaint) -> [Body] {
    do { return try BodySelection(bodies: all).resolve(wanted) } catch {
      let tags = Set(all.flatMap(\.tags)).sorted().map { "tag:\($0)" }.joined(separator: ", ")
      let names = all.count == 1 ? "virtual-1" : "virtual-1 to virtual-\(all.count)"
      switch error {
      case .unknown(let typed, _), .ambiguous(let typed, _):
        throw Complaint(
          .usage,
          "'\(typed.printable)' names none of this run's virtual phones, or several. They are called \(names), and "
            + "have the tags \(tags). Name one: fleetctl run --virtual \(all.count) --body virtual-1.")
      case .notInFile, .networkOnly: throw Complaint(.usage, error.sentence)
      }
    }
  }

  /// Ends what was started for the run.
  func end() {
    fleet?.stop()
    folder?.remove(Self.files)
  }
}

extension Body {
  /// Why a body that is meant is not judged, in three parts.
  var outOfServiceNotice: String {
    guard let outOfService else { return "" }
    let until = outOfService.until.map { "until \($0)" } ?? "until its entry is taken out of fleet.yaml"
    return "\(title) is out of service: \(outOfService.reason), \(until). It is not judged. "
      + "To see what holds for it: fleetctl config show."
  }
}
