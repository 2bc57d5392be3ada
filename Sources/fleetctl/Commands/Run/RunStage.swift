import DeviceBridge
import Fleet
import Transport
import VirtualPhone

/// Where a run takes place: the bodies and the way to them; for `--virtual` also the phones themselves.
final class RunStage: Sendable {
  let bodies: [Body]
  /// Those that are meant too, and are not judged.
  let outOfService: [Body]
  let mux: MuxAddress
  let secrets: [Secret]
  private let fleet: VirtualFleet?
  private let folder: PrivateFolder?

  /// The bodies that the command line means, on phones that are attached.
  init(_ options: RunOptions, _ bench: Bench) async throws(Complaint) {
    let selection = try await bench.bodies()
    var chosen = selection.bodies
    if !options.bodies.isEmpty {
      do { chosen = try selection.resolve(options.bodies) } catch {
        throw Complaint(ExitCode(error.exitCode), error.sentence)
      }
    }
    let ports = USBPorts().all()
    for index in chosen.indices { chosen[index].usbPort = ports[chosen[index].udid] }
    let today = CalendarDay.today()
    outOfService = chosen.filter { $0.outOfService?.holds(on: today) ?? false }
    bodies = chosen.filter { !($0.outOfService?.holds(on: today) ?? false) }
    mux = bench.mux
    secrets = Array(bench.configuration.secrets.values)
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
    let wanted = options.bodies
    outOfService = []
    let folder = try PrivateFolder(environment: context.environment)
    self.folder = folder
    let control = folder.file("control")
    context.interruption.removeWhenLeaving([folder.file("usbmuxd"), control, folder.path])
    var isReady = false
    do throws(Complaint) {
      var options = VirtualFleet.Options(address: .unix(path: folder.file("usbmuxd")))
      options.control = control
      options.phones = count
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
        lab.body(of: phone, number: index + 1, as: listed.first { $0.udid == phone.udid }, bundle: options.bundle)
      }
      bodies = wanted.isEmpty ? all : try Self.chosen(wanted, from: all)
      isReady = true
    } catch {
      folder.remove(["usbmuxd", "control"])
      throw error
    }
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
    folder?.remove(["usbmuxd", "control"])
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
