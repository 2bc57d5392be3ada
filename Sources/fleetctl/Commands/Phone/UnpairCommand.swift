import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl unpair`: revokes the trust between a phone and this host.
enum UnpairCommand {
  private static let limit = Duration.seconds(30)

  static let spec = CommandSpec(
    name: "unpair", summary: "revoke the trust between a phone and this host", positionals: [.body],
    notes: [
      "A phone that is not attached keeps its own record; this host forgets it all the same. The UDID of such a phone "
        + "may be given where fleet.yaml does not name it.",
      "Exit codes: 0 revoked, or there was nothing to revoke, 3 the phone or the daemon cannot be asked.",
      "--json: one object with body, udid, revoked (both-ends, here-alone, nothing, or null), error.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in try await run(context) }

  private static func run(_ context: Context) async throws(Complaint) -> ExitCode {
    let bench = try Bench(context)
    let typed = context.invocation.one("BODY")
    let selection = try await bench.bodies()
    let body: Body
    var unknown: BodySelectionError?
    do { body = try selection.resolve(typed) } catch {
      guard let udid = UDID(wellFormed: typed), error.exitCode == .usage else {
        throw Complaint(error.exitCode, error.sentence)
      }
      body = Body(BodyEntry(udid: udid, under: bench.configuration), phone: nil)
      unknown = error
    }
    let answer = await unpair(body, bench)
    // Neither attached nor in fleet.yaml, and this host has no record of it either.
    if let unknown, case .success(.nothing) = answer { throw Complaint(.usage, unknown.sentence) }
    await context.note(.unpair, on: body, result: revoked(answer), in: bench.configuration)
    return try tell(answer, of: body, context)
  }

  private static func unpair(_ body: Body, _ bench: Bench) async -> Result<Unpairing, PhoneError> {
    let gone = ListedPhone(
      udid: body.udid, serial: body.udid.description, deviceID: 0, transport: .usb, alsoNetwork: false)
    let lane = PhoneLane(body.phone ?? gone, mux: bench.mux)
    defer { lane.close() }
    do throws(PhoneError) { return .success(try await lane.unpair(by: .after(limit))) } catch {
      return .failure(error)
    }
  }

  private static func revoked(_ answer: Result<Unpairing, PhoneError>) -> String {
    switch answer {
    case .success(.bothEnds): "both-ends"
    case .success(.hereAlone): "here-alone"
    case .success(.nothing): "nothing"
    case .failure(let error): error.word
    }
  }

  private static func tell(
    _ answer: Result<Unpairing, PhoneError>, of body: Body, _ context: Context
  ) throws(Complaint) -> ExitCode {
    let word = (try? answer.get()).map { _ in revoked(answer) }
    var line = ""
    var sentence: String?
    switch answer {
    case .success(.bothEnds): line = "trust revoked at both ends"
    case .success(.hereAlone(let why)):
      line = "trust revoked here alone"
      sentence =
        "This host has forgotten \(body.title.printable); the phone was not told: \(why.word). "
        + "What it keeps is of no use to it without this host's part. To pair again: fleetctl pair \(body.title.printable)."
    case .success(.nothing): line = "no trust to revoke: this host has no record of it"
    case .failure(let error): sentence = error.sentence
    }
    if context.wantsJSON {
      try context.output.result([
        "body": .text(body.name), "udid": .string(body.udid.description), "revoked": .text(word),
        "error": .text(sentence),
      ])
    } else if word != nil {
      try context.output.result("\(body.title.printable)  \(line)")
    }
    guard case .failure(let error) = answer else {
      if let sentence { context.output.complain(sentence) }
      return .done
    }
    throw Complaint(error)
  }
}
