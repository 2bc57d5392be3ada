import DeviceBridge
import Fleet
import Transport
import VirtualPhone

/// Where a run takes place: the bodies and the way to them; for `--virtual` also the phones themselves.
final class RunStage: Sendable {
  let bodies: [Body]
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
    bodies = chosen
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
  init(virtual count: Int, _ context: Context) async throws(Complaint) {
    let folder = try PrivateFolder(environment: context.environment)
    self.folder = folder
    let control = folder.file("control")
    context.interruption.removeWhenLeaving([folder.file("usbmuxd"), control, folder.path])
    do throws(Complaint) {
      var options = VirtualFleet.Options(address: .unix(path: folder.file("usbmuxd")))
      options.control = control
      options.phones = count
      try context.usage { () throws(UsageError) in try VirtualOptions.read(context.invocation, into: &options) }
      let fleet: VirtualFleet
      do { fleet = try VirtualFleet(options) } catch { throw Complaint(.harness, error.sentence) }
      self.fleet = fleet
      mux = .unix(path: folder.file("usbmuxd"))
      secrets = []
      let lab = VirtualLab(executable: try VirtualLab.ownExecutable(), control: control)
      let listed: [ListedPhone]
      do { listed = try await Mux(address: mux).phones(by: .after(Bench.muxLimit)) } catch { throw Complaint(error) }
      bodies = fleet.phones.enumerated().map { index, phone in
        lab.body(of: phone, number: index + 1, as: listed.first { $0.udid == phone.udid }, bundle: options.bundle)
      }
    } catch {
      folder.remove(["usbmuxd", "control"])
      throw error
    }
  }

  /// Ends what was started for the run.
  func end() {
    fleet?.stop()
    folder?.remove(["usbmuxd", "control"])
  }
}
