import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl install`: a build onto phones, side by side.
enum InstallCommand {
  /// A package has some hundred megabytes, and the phone checks them all.
  private static let limit = Duration.seconds(900)
  /// As long as a revival may take.
  private static let leaseWait = Duration.seconds(30)

  static let spec = CommandSpec(
    name: "install", summary: "install a build on phones; the old and the new build, or the phone's own refusal",
    positionals: [
      PositionalSpec(label: PositionalSpec.body.label, help: PositionalSpec.body.help, count: .oneOrMore, isBody: true),
      PositionalSpec(label: "FILE.ipa", help: "the package"),
    ],
    notes: [
      "Each phone is held meanwhile: neither supervisor nor runs touch it. One that somebody else holds is waited for 30 "
        + "s. The app is not started.",
      "Exit codes: 0 installed on all, 1 refused by a phone, 2 the file is no package, 3 a phone is held, cannot be "
        + "reached or does not trust this host.",
      "--json: one object a phone with body, udid, installed, bundle, old and new (version, build), token and detail (the "
        + "phone's own), error.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in try await run(context) }

  private static func run(_ context: Context) async throws(Complaint) -> ExitCode {
    let invocation = context.invocation
    let bench = try Bench(context)
    let file = invocation.one("FILE.ipa")
    guard Files.host.exists(file) else {
      throw Complaint(
        .usage,
        "There is no file \(file.printable), and nothing was installed. Its name may be mistyped. "
          + "Give the package last: fleetctl install BODY FILE.ipa.")
    }
    let selection = try await bench.bodies()
    let bodies: [Body]
    do { bodies = try selection.resolve(invocation.all("BODY")) } catch {
      throw Complaint(error.exitCode, error.sentence)
    }
    return try await install(file, on: bodies, bench, context)
  }

  private static func install(
    _ file: String, on bodies: [Body], _ bench: Bench, _ context: Context
  ) async throws(Complaint) -> ExitCode {
    let board = ProgressBoard(context)
    let locks = PhoneLocks(environment: context.environment)
    var codes: [ExitCode] = []
    await withTaskGroup(of: InstallReport.self) { group in
      for body in bodies {
        group.addTask { await install(file, on: body, bench.mux, locks, board, context.output) }
      }
      for await report in group {
        board.remove(report.udid)
        codes.append(report.code)
        if let body = bodies.first(where: { $0.udid == report.udid }) {
          await context.note(.install, on: body, result: report.result, in: bench.configuration)
        }
        tell(report, context)
      }
    }
    if let complaint = context.output.complaint, !codes.contains(.no) { throw complaint }
    // A refusal that was found outweighs a phone that could not be asked.
    for code in [ExitCode.no, .usage, .harness] where codes.contains(code) { return code }
    return .done
  }

  private static func install(
    _ file: String, on body: Body, _ mux: MuxAddress, _ locks: PhoneLocks, _ board: ProgressBoard, _ output: Output
  ) async -> InstallReport {
    var report = InstallReport(title: body.title, body: body.name, udid: body.udid)
    let lane: PhoneLane
    do { lane = try body.lane(mux) } catch {
      report.answer = .failed(error)
      return report
    }
    defer { lane.close() }
    do throws(HostTrouble) {
      let answer = try await locks.acquire(
        body.udid, on: mux, as: .current(.install), wait: .after(leaseWait)
      ) { holder in
        output.say("\(body.title) is held by \(holder.text); it is waited for.".printable)
      }
      switch answer {
      case .held(let holder): report.answer = .held(holder)
      case .cancelled: report.answer = .failed(.ended(body.udid))
      case .taken(let lease, _):
        defer { lease.release() }
        let title = body.title
        do throws(PhoneError) {
          let outcome = try await lane.install(ipa: file, by: .after(limit)) { progress in
            board.set(progress, of: body.udid, called: title)
          }
          report.answer = .outcome(outcome)
        } catch {
          report.answer = .failed(error)
        }
      }
    } catch {
      report.answer = .trouble(error)
    }
    return report
  }

  private static func tell(_ report: InstallReport, _ context: Context) {
    // What could not be written is found at the end: the other phones are installed all the same.
    if context.wantsJSON {
      try? context.output.result(report.json)
    } else if let line = report.line {
      try? context.output.result(line.printable)
    }
    if let sentence = report.sentence { context.output.complain(sentence.printable) }
  }
}

/// What became of `fleetctl install` on one phone.
struct InstallReport: Sendable {
  enum Answer: Sendable {
    case outcome(InstallOutcome)
    case failed(PhoneError)
    case held(Holder)
    case trouble(HostTrouble)
  }

  var title: String
  var body: String?
  var udid: UDID
  var answer = Answer.outcome(.installed(nil))

  var code: ExitCode {
    switch answer {
    case .outcome(.installed): .done
    case .outcome(.refused): .no
    case .failed(let error): error.isUsage ? .usage : .harness
    case .held, .trouble: .harness
    }
  }

  var line: String? {
    switch answer {
    case .outcome(.installed(let change?)): "\(title)  \(change.bundle)  \(change.text)"
    case .outcome(.installed(nil)): "\(title)  installed, no change seen"
    case .outcome(.refused(let token, _)): "\(title)  refused  \(token)"
    case .failed, .held, .trouble: nil
    }
  }

  /// For the record.
  var result: String {
    switch answer {
    case .outcome(.installed(let change?)): "\(change.bundle) \(change.text)"
    case .outcome(.installed(nil)): "installed, no change seen"
    case .outcome(.refused(let token, _)): "refused: \(token)"
    case .failed(let error): error.word
    case .held: "held"
    case .trouble(let trouble): trouble.words.text
    }
  }

  var sentence: String? {
    switch answer {
    case .outcome(.installed(.some)): nil
    case .outcome(let outcome): outcome.sentence(udid)
    case .failed(let error): error.sentence
    case .held(let holder):
      "\(title) is held by \(holder.text), and nothing was installed on it. Whoever holds a phone works with it "
        + "undisturbed. When it is free again: fleetctl install \(title) FILE.ipa."
    case .trouble(let trouble): trouble.sentence
    }
  }

  var json: JSON {
    var object: [String: JSON] = [
      "body": .text(body), "udid": .string(udid.description), "installed": .boolean(code == .done), "bundle": .null,
      "old": .null, "new": .null, "token": .null, "detail": .null,
      "error": .text(code == .done ? nil : sentence),
    ]
    switch answer {
    case .outcome(.installed(let change?)):
      object["bundle"] = .string(change.bundle)
      object["old"] = change.old.map(Self.build) ?? .null
      object["new"] = Self.build(change.new)
    case .outcome(.refused(let token, let detail)):
      object["token"] = .string(token)
      object["detail"] = .text(detail.isEmpty ? nil : detail)
    case .outcome(.installed(nil)), .failed, .held, .trouble: break
    }
    return .object(object)
  }

  private static func build(_ app: InstalledApp) -> JSON { ["version": .text(app.version), "build": .text(app.build)] }
}
