import DeviceBridge
import Fleet
import Wire

/// `fleetctl doctor`: what is missing between this machine and a supervised phone.
enum DoctorCommand {
  static let spec = CommandSpec(
    name: "doctor", summary: "what is missing for supervision, and the next step for each",
    notes: [
      "Each thing is in order, or it is not, or that could not be checked, which is never taken for being in order. "
        + "First this machine: configuration, usbmuxd, state folder, disk space, record, phone locks, supervisor, its "
        + "start with the machine, clock. Then each body: cable, trust, lock, app, developer mode and image, door. Phones are "
        + "asked, and nothing is changed on them.",
      "Exit codes: 0 all in order, 1 something is not, 2 the configuration is wrong, 3 nothing is known to be wrong, but "
        + "something could not be checked.",
      "--json: one object a check with body, udid, check, state (ok, not-ok, unknown), found, next.",
    ])

  /// Phones that are asked at once.
  private static let side = 32

  static let command = Command(spec: spec) { context throws(Complaint) in
    let bench = try Bench(context)
    let phones: Result<[ListedPhone], PhoneError>
    do throws(PhoneError) { phones = .success(try await bench.phones()) } catch { phones = .failure(error) }
    var findings = await HostExam(configuration: bench.configuration, mux: bench.mux, context: context).findings(phones)
    if case .success(let phones) = phones {
      let selection = BodySelection(bench.configuration, phones: phones)
      findings += await examine(selection.bodies, bench, context)
      if selection.bodies.isEmpty {
        findings.append(
          .notOK(
            "bodies", "No phone is attached by cable, and fleet.yaml names none.",
            next: "plug one in, then: fleetctl devices"))
      }
    } else {
      findings.append(.unknown("bodies", "Not without usbmuxd."))
    }
    try tell(findings, context)
    return findings.exitCode
  }

  private static func examine(_ bodies: [Body], _ bench: Bench, _ context: Context) async -> [Finding] {
    let locks = PhoneLocks(environment: context.environment)
    return await withTaskGroup(of: (Int, [Finding]).self) { group in
      var found: [Int: [Finding]] = [:]
      for (index, body) in bodies.enumerated() {
        if index >= side, let (done, findings) = await group.next() { found[done] = findings }
        group.addTask {
          let exam = BodyExam(body: body, mux: bench.mux, holder: await locks.holder(of: body.udid, on: bench.mux))
          return (index, await exam.findings())
        }
      }
      for await (index, findings) in group { found[index] = findings }
      return bodies.indices.flatMap { found[$0] ?? [] }
    }
  }

  private static func tell(_ findings: [Finding], _ context: Context) throws(Complaint) {
    if context.wantsJSON {
      try context.output.results(findings.map(\.json.line))
      return
    }
    var table = Table()
    for finding in findings { table.add([finding.check, finding.found]) }
    var lines: [String] = []
    var body: UDID?
    for (line, finding) in zip(table.lines, findings) {
      if let udid = finding.udid, udid != body {
        lines.append((finding.body ?? udid.description).printable)
        body = udid
      }
      lines.append("\(mark(finding.state, context.output.style)) \(line)")
      if let next = finding.next { lines.append("    → \(next)".printable) }
    }
    let (bad, unknown) = (findings.count { $0.state == .notOK }, findings.count { $0.state == .unknown })
    lines.append("\(findings.count) checked: \(bad) not in order, \(unknown) could not be checked")
    try context.output.results(lines)
  }

  private static func mark(_ state: Finding.State, _ style: Style) -> String {
    switch state {
    case .ok: style.good("✓")
    case .notOK: style.bad("✗")
    case .unknown: style.odd("?")
    }
  }
}
