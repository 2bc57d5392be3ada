import DeviceBridge
import Fleet
import Transport
import Wire

/// Sends one request to a body's door and tells how it ended; what `hello` and `request` share.
struct DoorCalls: Sendable {
  var bench: Bench
  var context: Context
  /// Longest for the door, or the phone, to be there at all.
  var wait: Duration
  /// Longest for the whole answer, where somebody says so.
  var deadline: Duration?
  /// Which token the request carries.
  var token: DoorToken

  static let options: [OptionSpec] = [
    .value("deadline", "DURATION", "longest for the whole answer (else the caller's clock of that request)"),
    .value(
      "token", "WHICH", "configured, none, or wrong on purpose (else configured)",
      choices: DoorToken.allCases.map(\.rawValue)),
    .wait("wait so long for the phone to be attached and its door to answer"),
  ]

  static let notes = [
    "Exit codes: 0 the answer is a 2xx, 1 any other answer, nobody listening, silence or a broken reply, 3 the phone "
      + "cannot be reached.",
    "--json: one object with body, udid, request, outcome (response, refused, silent, bad-reply, unreachable), status, "
      + "type, headers, json, text, picture {kind, size}, size, took_s, error; absent values null.",
  ]

  init(_ context: Context) throws(Complaint) {
    self.context = context
    let invocation = context.invocation
    wait = try context.usage { () throws(UsageError) in try invocation.duration("wait") } ?? .zero
    deadline = try context.usage { () throws(UsageError) in try invocation.positiveDuration("deadline") }
    token = invocation.value("token").flatMap(DoorToken.init) ?? .configured
    bench = try Bench(context)
  }

  /// - Parameter shape: makes the request for the body's door; its deadline and token are set here.
  func run(
    _ shape: @Sendable (DoorSettings) throws(UsageError) -> (DoorRequest, Duration), idempotent: Bool
  ) async throws(Complaint) -> ExitCode {
    let limit = Deadline.after(wait)
    var body = try await bench.body(context.invocation.one("BODY"), wait: wait)
    let shaped: (request: DoorRequest, limit: Duration)
    do { shaped = try shape(body.door) } catch { throw Complaint(error) }
    // One that can't be read must not keep the others from being sent.
    let secret = token == .configured ? try body.door.readToken() : try? body.door.readToken()
    var request = shaped.request
    request.token = token.value(secret)

    while true {
      request.deadline = .after(deadline ?? shaped.limit)
      let answer = await send(request, to: body)
      let isThere =
        switch answer.ending {
        case .response: true
        case .refused, .unreachable: false
        // The request may have been taken: only what may happen twice is sent twice.
        case .silent, .badReply: !idempotent
        }
      if !isThere, !limit.hasPassed, await Bench.rest() {
        // It may have come back under another number.
        body = (try? await bench.body(body.udid.description)) ?? body
        continue
      }
      let report = DoorReport(
        name: body.title, body: body.name, udid: body.udid, request: "\(request.method) \(request.target)",
        port: request.port, answer: answer, given: deadline)
      return try tell(report, Mask([secret].compactMap { $0 }))
    }
  }

  private func send(_ request: DoorRequest, to body: Body) async -> DoorAnswer {
    do {
      let lane = try body.lane(bench.mux)
      defer { lane.close() }
      return await lane.request(request)
    } catch {
      return DoorAnswer(ending: .unreachable(error), took: .zero)
    }
  }

  private func tell(_ report: DoorReport, _ mask: Mask) throws(Complaint) -> ExitCode {
    try context.tell(report.sentence.map { Complaint(report.code, mask($0)) }) { () throws(Complaint) in
      if context.wantsJSON {
        try context.output.result(mask(report.json.line))
      } else {
        try context.output.results(report.lines.map { mask($0) })
      }
      for header in report.answer.response?.headers ?? [] {
        context.output.detail(mask("\(header.name): \(header.value)".printable))
      }
    }
    return report.code
  }
}

extension DoorSettings {
  /// The door's token, where fleet.yaml names a file for it.
  func readToken() throws(Complaint) -> Secret? {
    do { return try token() } catch {
      throw Complaint(
        .usage,
        "The door's token cannot be read: \(error.description.printable). door: {token-file: …} in fleet.yaml names that "
          + "file. Correct it, or send none: fleetctl hello BODY --token none.")
    }
  }
}
