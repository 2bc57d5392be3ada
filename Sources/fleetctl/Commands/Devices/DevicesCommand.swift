import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl devices`: every attached phone, one line each.
enum DevicesCommand {
  static let spec = CommandSpec(
    name: "devices", summary: "every attached phone: trust, lock, app, door",
    options: [
      .flag("watch", "go on with a line for each change, until a signal"),
      .wait("wait so long for a phone, or for every body of fleet.yaml, to be attached"),
    ],
    notes: [
      "Columns: udid, name, model, iOS, transport, trust, lock, app, door. A phone that could not be asked keeps its "
        + "line, and standard error says why. Exit codes: 0 also for no phone or sick ones, 3 when the daemon cannot "
        + "be asked.",
      "app: front (its hello says so), running, not-running, not-installed, unknown. door: answers, silent, unknown.",
      "--watch asks every phone anew each 10 s. Its objects have two more keys: at, and event (attached, changed, "
        + "detached, daemon-lost, daemon-back). After daemon-lost nothing is known of any phone; those that are there "
        + "when it is back are attached anew.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let wait = try context.usage { () throws(UsageError) in
      if context.invocation.has("watch"), context.invocation.has("wait") {
        throw .contradiction("--watch goes on by itself. --wait ends after its time.", command: spec.name)
      }
      return try context.invocation.duration("wait")
    }
    let bench = try Bench(context)
    if context.invocation.has("watch") {
      var watch = DevicesWatch(bench, context)
      return try await watch.run()
    }
    let phones = try await list(bench, wait: wait ?? .zero)
    let ports = USBPorts().all()
    let visits = phones.map { visit($0, at: ports[$0.udid], bench, context) }
    let reports = await visitAll(visits, mux: bench.mux)
    try tell(reports, context)
    for body in bench.configuration.bodies ?? [] where !phones.contains(where: { $0.udid == body.udid }) {
      context.output.complain(
        "\(body.name?.printable ?? body.udid.description) (\(body.udid)) is not attached. Its cable may be loose. "
          + "Check it, then: fleetctl devices.")
    }
    return .done
  }

  /// The attached phones, once those that are waited for are there or the wait is over.
  private static func list(_ bench: Bench, wait: Duration) async throws(Complaint) -> [ListedPhone] {
    let limit = Deadline.after(wait)
    while true {
      let failure: PhoneError?
      var phones: [ListedPhone] = []
      do {
        phones = try await bench.phones()
        failure = nil
      } catch {
        failure = error
      }
      let wanted = bench.configuration.bodies.map { $0.map(\.udid) }
      let complete = wanted.map { $0.allSatisfy { udid in phones.contains { $0.udid == udid } } } ?? !phones.isEmpty
      if complete && failure == nil { return phones }
      guard !limit.hasPassed, await Bench.rest() else {
        if let failure { throw Complaint(failure) }
        return phones
      }
    }
  }

  /// What is to be asked of a phone, by the settings that hold for it.
  static func visit(_ phone: ListedPhone, at port: String?, _ bench: Bench, _ context: Context) -> DeviceVisit {
    let configuration = bench.configuration
    let entry = configuration.bodies?.first { $0.udid == phone.udid }
    let door = entry?.door ?? configuration.door
    let call = door.call(.hello)
    return DeviceVisit(
      phone: phone, body: entry?.name, bundle: (entry?.app ?? configuration.app).bundle, usbPort: port,
      asksPower: context.wantsJSON
    ) { deadline in
      // A token that can't be read makes the door answer 401, which is an answer.
      let token = (try? door.token())?.value
      return DoorRequest(
        port: door.port, method: call.line.method, target: call.line.target, token: token, deadline: deadline)
    }
  }

  /// Phones that are visited at once: each visit's time begins with it, and a large fleet's sessions share few cores.
  static let visitors = 48

  /// Visits the phones side by side; each has its own limit.
  private static func visitAll(_ visits: [DeviceVisit], mux: MuxAddress) async -> [DeviceReport] {
    await withTaskGroup(of: (Int, DeviceReport).self) { group in
      var reports: [Int: DeviceReport] = [:]
      for (index, visit) in visits.enumerated() {
        if index >= visitors, let (done, report) = await group.next() { reports[done] = report }
        group.addTask {
          let lane = PhoneLane(visit.phone, mux: mux)
          defer { lane.close() }
          return (index, await visit.report(over: lane, by: .after(DeviceVisit.limit)))
        }
      }
      for await (index, report) in group { reports[index] = report }
      return visits.indices.compactMap { reports[$0] }
    }
  }

  private static func tell(_ reports: [DeviceReport], _ context: Context) throws(Complaint) {
    let output = context.output
    if context.wantsJSON {
      try output.results(reports.map(\.json.line))
    } else {
      var table = Table()
      // Column heads are for eyes only: whoever reads the output by line gets one phone a line.
      let heads = output.isOnScreen && !reports.isEmpty
      if heads { table.add(DeviceReport.columns) }
      for report in reports { table.add(report.cells) }
      var lines = table.lines
      if heads { output.say(output.style.faint(lines.removeFirst())) }
      try output.results(zip(lines, reports).map { $1.facts.error == nil ? $0 : output.style.bad($0) })
      if reports.isEmpty { output.say("No phone is attached.") }
    }
    for report in reports {
      guard let error = report.facts.error else { continue }
      output.complain(report.complaint(error))
    }
  }
}
