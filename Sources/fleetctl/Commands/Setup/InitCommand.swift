import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl init`: a fleet.yaml from the phones that are attached now.
enum InitCommand {
  static let spec = CommandSpec(
    name: "init", summary: "write a fleet.yaml from the phones attached now",
    options: [
      .value("app", "BUNDLE", "the kiosk app's bundle identifier"),
      .flag("add", "only print entries for phones that fleet.yaml does not have yet"),
    ],
    notes: [
      "It writes --config's file, else $FLEETCTL_CONFIG's, else ./fleet.yaml, and never over a file that is there. "
        + "Names are made from the phones' own; change them as you like. Phones that are seen over the network only "
        + "are left out.",
      "--json: what was written as one object with file and bodies (body, udid, device_name, model, ios); with --add one "
        + "such object a phone.",
      "Exit codes: 0 written, or with --add also when there is nothing to add; 2 a file is there already, or --app's "
        + "value is no bundle identifier; 3 no phone is attached, the daemon cannot be asked, or the file cannot be "
        + "written.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let invocation = context.invocation
    if invocation.has("add"), invocation.has("app") {
      throw Complaint(
        .contradiction("--add prints entries only. --app is a line of a new file.", command: spec.name))
    }
    return try await invocation.has("add") ? add(context) : write(context)
  }

  private static func write(_ context: Context) async throws(Complaint) -> ExitCode {
    let path = target(context)
    guard !Files.host.exists(path) else {
      throw Complaint(
        .usage,
        "\(path.printable) is there already, and nothing was written. A file of yours is never overwritten. "
          + "See what is missing in it: fleetctl init --add.")
    }
    let app = context.invocation.value("app")
    try check(app: app)
    let drafts = try await drafts(try Bench.address(context), beside: [], context)
    guard !drafts.isEmpty else {
      throw Complaint(
        .harness,
        "No phone is attached, and nothing was written. A fleet.yaml is made from the phones that are there. "
          + "Plug them in, then: fleetctl init.")
    }
    let text = BodyDraft.file(drafts, app: app, version: Program.version)
    do { _ = try FleetConfiguration.parse(Array(text.utf8), file: path) } catch {
      throw Complaint(
        .bug,
        "The fleet.yaml that was made is not right: \(error.description.printableLines). This is a fault of fleetctl, "
          + "and nothing was written. Write the file by hand; see: fleetctl help init.")
    }
    try NewFile.write(text, to: path)
    if context.wantsJSON {
      try context.output.result(["file": .string(path), "bodies": .array(drafts.map(\.json))])
    } else {
      try context.output.result("\(path.printable): \(drafts.count) bod\(drafts.count == 1 ? "y" : "ies")")
    }
    if app == nil {
      context.output.say("No app is named in it yet: put the bundle identifier into its line app: {bundle: …}.")
    }
    return .done
  }

  private static func add(_ context: Context) async throws(Complaint) -> ExitCode {
    let bench = try Bench(context)
    guard let file = bench.configuration.file else {
      throw Complaint(
        .usage,
        "There is no fleet.yaml to add to. None is at any of the usual places. Write one: fleetctl init.")
    }
    let known = bench.configuration.bodies ?? []
    let drafts = try await drafts(bench.mux, beside: known, context)
    if context.wantsJSON {
      try context.output.results(drafts.map(\.json.line))
    } else {
      try context.output.results(drafts.map(\.entry))
    }
    if drafts.isEmpty {
      context.output.say("Nothing to add: \(file.printable) has every attached phone.")
    } else if bench.configuration.bodies == nil {
      context.output.say(
        "\(file.printable) has no bodies: yet, so every attached phone is one. With such entries only they are.")
    } else {
      context.output.say("Put these lines under bodies: of \(file.printable).")
    }
    return .done
  }

  private static func target(_ context: Context) -> String {
    if let path = context.invocation.value("config") { return path }
    if let path = context.environment["FLEETCTL_CONFIG"], !path.isEmpty { return path }
    return "fleet.yaml"
  }

  /// As it will stand in the file, so that what fleet.yaml does not take is refused here.
  private static func check(app: String?) throws(Complaint) {
    guard let app else { return }
    let read = try? FleetConfiguration.parse(Array("app: {bundle: \(app)}\n".utf8), file: "fleet.yaml")
    guard read?.app.bundle == app else {
      throw Complaint(
        .badValue(
          option: "app", value: app, wanted: "a bundle identifier such as com.example.kiosk", command: spec.name))
    }
  }

  /// The phones that are attached by cable and that no entry stands for.
  private static func drafts(
    _ mux: MuxAddress, beside known: [BodyEntry], _ context: Context
  ) async throws(Complaint) -> [BodyDraft] {
    let phones: [ListedPhone]
    do { phones = try await Mux(address: mux).phones(by: .after(Bench.muxLimit)) } catch { throw Complaint(error) }
    var chosen: [ListedPhone] = []
    for phone in phones where !known.contains(where: { $0.udid == phone.udid }) {
      if phone.transport == .network {
        context.output.complain(PhoneError.networkOnly(phone.udid).sentence)
      } else if UDID(wellFormed: phone.udid.description) == nil {
        context.output.complain(
          "\(phone.udid.description.printable) is left out. That is no identifier of a phone. "
            + "See what is attached: fleetctl devices.")
      } else {
        chosen.append(phone)
      }
    }
    let facts = await facts(of: chosen, mux)
    var names = known.compactMap(\.name)
    return zip(chosen, facts).map { phone, facts in
      let name = BodyDraft.name(from: facts.deviceName, beside: names)
      names += name.map { [$0] } ?? []
      return BodyDraft(phone: phone, facts: facts, name: name)
    }
  }

  private static func facts(of phones: [ListedPhone], _ mux: MuxAddress) async -> [PhoneFacts] {
    await withTaskGroup(of: (Int, PhoneFacts).self) { group in
      var facts: [Int: PhoneFacts] = [:]
      for (index, phone) in phones.enumerated() {
        if index >= DevicesCommand.visitors, let (done, found) = await group.next() { facts[done] = found }
        group.addTask {
          let lane = PhoneLane(phone, mux: mux)
          defer { lane.close() }
          return (index, await lane.facts(by: .after(DeviceVisit.limit)))
        }
      }
      for await (index, found) in group { facts[index] = found }
      return phones.indices.map { facts[$0] ?? PhoneFacts() }
    }
  }
}
