import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl launch`: brings the app to the front.
enum LaunchCommand {
  /// Longest for one launch, connecting included; a phone that is asked while it locks never answers.
  private static let limit = Duration.seconds(30)

  static let spec = CommandSpec(
    name: "launch", summary: "bring the app to the front", positionals: [.body],
    options: [
      .value("arg", "A", "an argument for the app", repeats: true),
      .value("env", "K=V", "an environment variable for the app", repeats: true),
      .flag("fresh", "end a running one first"),
      .wait("wait so long for the phone to be attached and unlocked"),
    ],
    notes: [
      "Accepted means that the process has lived for one second, or that the app's door has answered. Exit codes: "
        + "0 accepted, 1 refused, or ended sooner, 3 the phone cannot be reached or does not trust this host. With "
        + "launcher: none in fleet.yaml nothing is launched: accepted means then that the door answers.",
      "--json: one object with body, udid, accepted, outcome, reason, detail; the last three null when accepted.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in
    let invocation = context.invocation
    let (environment, wait) = try context.usage { () throws(UsageError) in
      (try invocation.pairs("env"), try invocation.duration("wait") ?? .zero)
    }
    let bench = try Bench(context)
    let patience = Patience(wait)
    var body = try await bench.body(invocation.one("BODY"), wait: wait)
    // Where something else brings the app back, nothing is launched, and no name is needed for it.
    guard body.app.bundle != nil || body.app.launcher == .others else { throw .noApp }
    let request = LaunchRequest(
      bundle: body.app.bundle ?? "", arguments: invocation.values("arg"), environment: environment,
      fresh: invocation.has("fresh"))
    while true {
      let failure = await launch(request, on: body, bench)
      if let failure, failure.mayPass, await patience.goesOn() {
        body = (try? await bench.body(body.udid.description)) ?? body
        continue
      }
      let result = failure.map { OutcomeWords($0)?.text ?? $0.word } ?? "accepted"
      await context.note(.launch, on: body, result: result, in: bench.configuration)
      return try tell(failure, request, body, context)
    }
  }

  /// - Returns: nil when it was accepted.
  private static func launch(_ request: LaunchRequest, on body: Body, _ bench: Bench) async -> PhoneError? {
    do {
      let lane = try body.lane(bench.mux)
      defer { lane.close() }
      if body.app.launcher == .others { return await awaitDoor(of: body, over: lane) }
      var request = request
      let call = body.door.call(.hello)
      request.door = DoorRequest(
        port: body.door.port, method: call.line.method, target: call.line.target, deadline: .after(limit))
      try await lane.launch(request, by: .after(limit))
      return nil
    } catch {
      return error
    }
  }

  /// Where something else brings the app back, the door's answer is all there is to wait for.
  private static func awaitDoor(of body: Body, over lane: PhoneLane) async -> PhoneError? {
    let limit = Deadline.after(body.supervise.answerWithin)
    let call = body.door.call(.hello)
    var wasSilent = false
    while true {
      let answer = await lane.request(
        DoorRequest(port: body.door.port, method: call.line.method, target: call.line.target, deadline: limit))
      switch answer.ending {
      case .response: return nil
      // A last look that the limit cut short says nothing against those before it.
      case .unreachable(let error):
        return wasSilent && limit.hasPassed ? .refused(body.udid, port: body.door.port) : error
      case .refused, .silent, .badReply:
        wasSilent = true
        guard !limit.hasPassed, await Bench.rest() else { return .refused(body.udid, port: body.door.port) }
      }
    }
  }

  private static func tell(
    _ failure: PhoneError?, _ request: LaunchRequest, _ body: Body, _ context: Context
  ) throws(Complaint) -> ExitCode {
    let words = failure.flatMap(OutcomeWords.init)
    var complaint = failure.map { Complaint($0) }
    if let words, isAnswer(words.kind) { complaint?.code = .no }
    try context.tell(complaint) { () throws(Complaint) in
      if context.wantsJSON {
        try context.output.result([
          "body": .text(body.name), "udid": .string(body.udid.description), "accepted": .boolean(failure == nil),
          "outcome": .text(words?.kind.rawValue), "reason": .text(words?.reason?.rawValue),
          "detail": .text(failure?.sentence),
        ])
      } else if failure == nil {
        let what = body.app.launcher == .others ? "its door answers" : "launched \(request.bundle)"
        try context.output.result("\(body.title)  \(what)".printable)
      }
    }
    return .done
  }

  /// The phone, its lock or the app said no; anything else kept the launch from being tried.
  private static func isAnswer(_ kind: OutcomeKind) -> Bool {
    switch kind {
    case .locked, .launchRefused, .launchedNoAnswer, .silent: true
    case .up, .revived, .leftAlone, .held, .paused, .untrusted, .unreachable, .hostFault: false
    }
  }
}
