import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl pair`: asks a phone to trust this host; the only command that ever does.
enum PairCommand {
  /// Longest for one request; whether the person has tapped yet is asked anew each second.
  private static let callLimit = Duration.seconds(30)

  static let spec = CommandSpec(
    name: "pair", summary: "ask a phone to trust this host, and say what to tap", positionals: [.body],
    options: [.wait("wait so long for the phone to be attached and for somebody to tap Trust")],
    notes: [
      "No other command pairs. A phone that trusts this host already is left as it is. Unlock the phone first: the "
        + "question appears on its screen.",
      "Exit codes: 0 trusted, 1 refused by the person, locked, or nobody has answered yet, 3 the phone cannot be "
        + "reached.",
      "--json: one object with body, udid, state (trusted, pending, denied, locked, locked-before-first-unlock, or "
        + "null), error.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in try await run(context) }

  private static func run(_ context: Context) async throws(Complaint) -> ExitCode {
    let invocation = context.invocation
    let wait = try context.usage { () throws(UsageError) in try invocation.duration("wait") } ?? .zero
    let bench = try Bench(context)
    let patience = Patience(wait)
    let body = try await bench.body(invocation.one("BODY"), wait: wait)
    let answer = await pair(body, bench, patience, context)
    let result =
      switch answer {
      case .success(let state): state.rawValue
      case .failure(let error): error.word
      }
    await context.note(.pair, on: body, result: result, in: bench.configuration)
    return try tell(answer, of: body, context)
  }

  private static func pair(
    _ body: Body, _ bench: Bench, _ patience: Patience, _ context: Context
  ) async -> Result<PairState, PhoneError> {
    // One lane for the whole wait: it keeps the requests a second apart, and finds the phone under its next number.
    let lane: PhoneLane
    do { lane = try body.lane(bench.mux) } catch { return .failure(error) }
    defer { lane.close() }
    var heard: (state: PairState, at: ContinuousClock.Instant)?
    while true {
      let answer: Result<PairState, PhoneError>
      do throws(PhoneError) {
        answer = .success(try await lane.pair(by: patience.deadline(usual: callLimit)))
      } catch {
        answer = .failure(error)
      }
      switch answer {
      case .success(let state):
        guard state.mayChange else { return answer }
        if state != heard?.state, !patience.limit.hasPassed {
          // Said once for each state, however long it lasts.
          context.output.say("fleetctl: \(state.sentence(body.udid).printable)")
        }
        heard = (state, .now)
      case .failure(let error): guard error.mayPass else { return answer }
      }
      if await patience.goesOn() { continue }
      // It is just being replugged: what it said last stands.
      if case .failure = answer, let heard, Patience.isFresh(heard.at) { return .success(heard.state) }
      return answer
    }
  }

  private static func tell(
    _ answer: Result<PairState, PhoneError>, of body: Body, _ context: Context
  ) throws(Complaint) -> ExitCode {
    let state = try? answer.get()
    let sentence: String? =
      switch answer {
      case .success(.trusted): nil
      case .success(let state): state.sentence(body.udid)
      case .failure(let error): error.sentence
      }
    let complaint = sentence.map { Complaint(state == nil ? .harness : .no, $0.printable) }
    try context.tell(complaint) { () throws(Complaint) in
      if context.wantsJSON {
        try context.output.result([
          "body": .text(body.name), "udid": .string(body.udid.description), "state": .text(state?.rawValue),
          "error": .text(sentence),
        ])
      } else if let state {
        let word = state == .trusted ? context.output.style.good(state.rawValue) : state.rawValue
        try context.output.result("\(body.title.printable)  \(word)")
      }
    }
    return .done
  }
}
