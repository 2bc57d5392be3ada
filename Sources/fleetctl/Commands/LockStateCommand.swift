import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl lock-state`: whether a phone asks for its passcode.
enum LockStateCommand {
  private static let limit = Duration.seconds(10)

  static let spec = CommandSpec(
    name: "lock-state", summary: "locked, unlocked or unknown, and why", positionals: [.body],
    options: [
      .value("expect", "STATE", "exit 1 unless it is this one", choices: LockState.allCases.map(\.rawValue))
    ],
    notes: ["Exit codes: 0 known (with --expect: as expected), 1 not as expected, 3 unknown or not reachable."])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let invocation = context.invocation
    let bench = try Bench(context)
    let body = try await bench.body(invocation.one("BODY"))
    let reading: LockReading
    var failure: PhoneError?
    do throws(PhoneError) {
      let lane = try body.lane(bench.mux)
      defer { lane.close() }
      reading = await lane.lock(by: .after(limit))
    } catch {
      reading = LockReading(state: .unknown, why: error.sentence)
      failure = error
    }

    let complaint =
      failure.map { Complaint($0) } ?? complaint(reading, expected: invocation.value("expect"), of: body.title)
    try context.tell(complaint) { () throws(Complaint) in
      if context.wantsJSON {
        try context.output.result([
          "body": .text(body.name), "udid": .string(body.udid.description), "lock": .string(reading.state.rawValue),
          "why": .string(reading.why),
        ])
      } else if failure == nil {
        try context.output.result("\(reading.state.rawValue)  \(reading.why.printable)")
      }
    }
    return .done
  }

  /// - Returns: nil for a lock that is known, and as expected.
  private static func complaint(_ reading: LockReading, expected: String?, of title: String) -> Complaint? {
    if expected == reading.state.rawValue { return nil }
    if reading.state == .unknown {
      return Complaint(
        .harness,
        "Whether \(title.printable) is locked is not known: \(reading.why.printable). Unknown is never unlocked. "
          + "See how the phone is: fleetctl devices.")
    }
    guard let expected else { return nil }
    return Complaint(
      .no,
      "\(title.printable) is \(reading.state.rawValue), and \(expected) was expected. "
        + (reading.state == .locked ? "Only a person can unlock it." : "Somebody may have unlocked it.")
        + " Read it again: fleetctl lock-state \(title.printable).")
  }
}
