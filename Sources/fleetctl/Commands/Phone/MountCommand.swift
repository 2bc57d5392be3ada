import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl mount`: the developer image that apps are launched through.
enum MountCommand {
  /// An image has some ten megabytes, and old phones are slow to check it.
  private static let limit = Duration.seconds(120)

  static let spec = CommandSpec(
    name: "mount", summary: "mount the developer image, if it is not mounted", positionals: [.body],
    options: [
      .value("image", "PATH", "this image, with PATH.signature beside it, whatever version it is for"),
      .flag("near", "the nearest older image of the same major version where the exact one is missing"),
      .wait("wait so long for the phone to be attached and unlocked"),
    ],
    notes: [
      "Images are looked for as VERSION/DeveloperDiskImage.dmg in images: {folder: …} of fleet.yaml, with .dmg.signature "
        + "beside each; the unpacked image of iOS 17 and later under personalized. That one is signed for each phone once, "
        + "by the server that images: {signing: …} names. Only the phone's own word that it is complete counts as mounted.",
      "Exit codes: 0 mounted, also if it was before, 1 locked, no image, or refused by the phone, 3 the phone cannot be "
        + "reached or does not trust this host.",
      "--json: one object with body, udid, ios, mounted, outcome (mounted, already-mounted, no-image, or the refusal: "
        + "locked, developer-mode-off, not-on-this-ios, not-signed, refused; null where the phone could not be asked), image (its "
        + "version, or the path that was given), exact, error.",
    ])

  static let command = Command(spec: spec) { context throws(Complaint) in try await run(context) }

  private static func run(_ context: Context) async throws(Complaint) -> ExitCode {
    let invocation = context.invocation
    let wait = try context.usage { () throws(UsageError) in
      if invocation.has("image"), invocation.has("near") {
        throw .contradiction("--image names one image. --near looks for one.", command: spec.name)
      }
      return try invocation.duration("wait") ?? .zero
    }
    let bench = try Bench(context)
    let choice = try ImageChoice(bench, context)
    let patience = Patience(wait)
    var body = try await bench.body(invocation.one("BODY"), wait: wait)
    while true {
      let report = await mount(choice, on: body, bench, context)
      if report.mayPass, await patience.goesOn() {
        body = (try? await bench.body(body.udid.description)) ?? body
        continue
      }
      await context.note(.mount, on: body, result: report.result, in: bench.configuration)
      return try tell(report, of: body, context)
    }
  }

  private static func mount(
    _ choice: ImageChoice, on body: Body, _ bench: Bench, _ context: Context
  ) async -> MountReport {
    var report = MountReport(title: body.title, body: body.name, udid: body.udid, choice: choice)
    do throws(PhoneError) {
      let lane = try body.lane(bench.mux)
      defer { lane.close() }
      let deadline = Deadline.after(limit)
      let found = try await lane.developerImage(by: deadline)
      report.ios = found.ios
      // Without a look into the folder, which may be empty once all phones have their image.
      if found.isMounted {
        report.answer = .success(.alreadyMounted)
        return report
      }
      let board = ProgressBoard(context)
      defer { board.remove(body.udid) }
      let title = body.title
      let progress: ProgressReport = { board.set($0, of: body.udid, called: title) }
      let outcome =
        switch choice {
        case .file(let image): try await lane.mount(image, by: deadline, report: progress)
        case .folder(let folder, let near):
          try await lane.mount(from: folder, near: near, by: deadline, report: progress)
        }
      report.answer = .success(outcome)
    } catch {
      report.answer = .failure(error)
    }
    return report
  }

  private static func tell(
    _ report: MountReport, of body: Body, _ context: Context
  ) throws(Complaint) -> ExitCode {
    let sentence = report.sentence?.printable
    let complaint = report.code == .done ? nil : sentence.map { Complaint(report.code, $0) }
    try context.tell(complaint) { () throws(Complaint) in
      if context.wantsJSON {
        try context.output.result(report.json)
      } else if let line = report.line {
        try context.output.result(line.printable)
      }
    }
    if let sentence { context.output.say("fleetctl: \(sentence)") }
    return report.code
  }
}

/// Which image a phone is offered.
enum ImageChoice: Sendable {
  case file(ImageFiles)
  case folder(ImageFolder, near: Bool)

  init(_ bench: Bench, _ context: Context) throws(Complaint) {
    if let path = context.invocation.value("image") {
      self = .file(ImageFiles(version: path, image: path, signature: path + ".signature"))
      return
    }
    let near = context.invocation.has("near")
    let images = bench.configuration.images
    do {
      let path =
        if let folder = images.folder { folder } else { try StateFolder.find(context.environment).path + "/images" }
      self = .folder(ImageFolder(path: path, signing: images.signing.service), near: near)
    } catch {
      throw Complaint(.harness, error.sentence)
    }
  }
}

/// What became of `fleetctl mount`.
struct MountReport: Sendable {
  var title: String
  var body: String?
  var udid: UDID
  var choice: ImageChoice
  var ios: String?
  var answer: Result<MountOutcome, PhoneError> = .success(.alreadyMounted)

  var code: ExitCode {
    switch answer {
    case .success(.mounted), .success(.alreadyMounted): .done
    case .success(.noImage), .success(.refused): .no
    case .failure(let error): error.isUsage ? .usage : .harness
    }
  }

  /// Whether waiting may end otherwise.
  var mayPass: Bool {
    switch answer {
    case .success(.refused(.locked, _)): true
    case .success: false
    case .failure(let error): error.mayPass
    }
  }

  var line: String? {
    switch answer {
    case .success(.mounted): "\(title)  mounted  \(image ?? "")\(isExact ? "" : "  (iOS is \(ios ?? "another"))")"
    case .success(.alreadyMounted): "\(title)  mounted already"
    case .success(.noImage), .success(.refused): "\(title)  not mounted"
    case .failure: nil
    }
  }

  /// Said where it is not mounted, and where it is by an image that was not made for this iOS.
  var sentence: String? {
    switch answer {
    case .success(.mounted(_, isExact: true)), .success(.alreadyMounted): nil
    case .success(let outcome): outcome.sentence(udid)
    case .failure(let error): error.sentence
    }
  }

  private var image: String? {
    guard case .success(.mounted(let version, _)) = answer else { return nil }
    return version
  }

  /// Made for the phone's iOS, as far as is known: of an image that somebody named it is not.
  private var isExact: Bool {
    guard case .success(.mounted(_, let isExact)) = answer, case .folder = choice else { return false }
    return isExact
  }

  /// For the record.
  var result: String {
    if case .failure(let error) = answer { return error.word }
    return word ?? ""
  }

  private var word: String? {
    switch answer {
    case .success(.mounted): "mounted"
    case .success(.alreadyMounted): "already-mounted"
    case .success(.noImage): "no-image"
    case .success(.refused(let refusal, _)): refusal.rawValue
    case .failure: nil
    }
  }

  var json: JSON {
    [
      "body": .text(body), "udid": .string(udid.description), "ios": .text(ios), "mounted": .boolean(code == .done),
      "outcome": .text(word), "image": .text(image), "exact": image == nil ? .null : .boolean(isExact),
      "error": .text(code == .done ? nil : sentence),
    ]
  }
}
