import Transport
import VirtualPhone
import Wire
import Fleet

/// `fleetctl virtual`: phones without hardware, until a signal ends them.
enum VirtualCommand {
  static let spec = CommandSpec(
    name: "virtual", summary: "start virtual phones behind a usbmux socket of their own",
    options: [
      .value("phones", "N", "how many, 1 to 512 (else 4)"),
      VirtualOptions.ios,
      .value("socket", "PATH", "the socket to listen on (else one in a private folder)"),
      .value("listen", "HOST:PORT", "listen on a loopback port instead; port 0 lets the system choose"),
      VirtualOptions.timeScale,
      VirtualOptions.manners,
      .value("control", "PATH", "the socket for 'virtual do' and 'virtual journal' (else one in a private folder)"),
      .value(
        "images", "FOLDER", "write a developer image for phones from iOS 17 on to FOLDER/personalized, and sign for it"),
    ],
    notes: [
      "It prints the two variables that clients need, and stays until SIGINT or SIGTERM. Everything that looks for "
        + "phones through USBMUXD_SOCKET_ADDRESS then finds these: fleetctl, libimobiledevice's tools, others.",
      "fleetctl virtual do PHONE ACTION changes a running phone; fleetctl virtual journal shows what was done to them.",
      "With --images a third line says where the image is signed for; in fleet.yaml: images: {folder: FOLDER, signing: "
        + "http://…}.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in try await run(context) }

  private static func run(_ context: Context) async throws(Complaint) -> ExitCode {
    let invocation = context.invocation
    let (signals, sink) = AsyncStream<Int32>.makeStream()
    // The phones end within a second; what a stuck one would leave behind is removed all the same.
    context.interruption.whenInterrupted(patience: .milliseconds(1_800)) { signal in
      sink.yield(signal)
      sink.finish()
    }
    let named = try context.usage { () throws(UsageError) in try VirtualOptions.address(invocation) }
    let control = try context.usage { () throws(UsageError) in try VirtualOptions.socketPath("control", invocation) }
    let count = try context.usage { () throws(UsageError) in try invocation.number("phones", in: 1...512) }
    let folder =
      named == nil || control == nil ? try PrivateFolder(environment: context.environment) : nil
    defer { folder?.remove(["usbmuxd", "control"]) }
    var options = VirtualFleet.Options(address: named ?? .unix(path: folder?.file("usbmuxd") ?? ""))
    options.control = control ?? folder?.file("control")
    if let count { options.phones = count }
    let images = try context.usage { () throws(UsageError) in try VirtualImages(invocation) }
    if images != nil { options.signing = VirtualImages.signing }
    try context.usage { () throws(UsageError) in try VirtualOptions.read(invocation, into: &options) }
    if let folder {
      context.interruption.removeWhenLeaving([folder.file("usbmuxd"), folder.file("control"), folder.path])
    }

    let fleet: VirtualFleet
    do { fleet = try VirtualFleet(options) } catch { throw Complaint(.harness, error.sentence) }
    defer { fleet.stop() }
    try images?.write()
    try announce(fleet, control: options.control ?? "", context)
    for await _ in signals { break }
    return context.interruption.exitCode ?? .done
  }

  private static func announce(_ fleet: VirtualFleet, control: String, _ context: Context) throws(Complaint) {
    let signing = fleet.signing.map { "http://\($0.address)" }
    if context.wantsJSON {
      let phones = fleet.phones.enumerated().map { index, phone -> JSON in
        [
          "number": .integer(Int64(index + 1)), "name": .string(phone.identity.name),
          "udid": .string(phone.udid.description), "ios": .string(phone.preset.ios),
        ]
      }
      var line: [String: JSON] = [
        "usbmuxd_socket_address": .string(fleet.address.description), "fleetctl_virtual": .string(control),
        "phones": .array(phones),
      ]
      if let signing { line["signing"] = .string(signing) }
      try context.output.result(.object(line))
    } else {
      let lines = ["USBMUXD_SOCKET_ADDRESS=\(fleet.address)", "FLEETCTL_VIRTUAL=\(control)"]
      try context.output.results(lines + (signing.map { ["FLEETCTL_SIGNING=\($0)"] } ?? []))
    }
    let count = fleet.phones.count
    context.output.say("fleetctl: \(count) virtual phone\(count == 1 ? " is" : "s are") up, until Ctrl-C or SIGTERM.")
  }
}
