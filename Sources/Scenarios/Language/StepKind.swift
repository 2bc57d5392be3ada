import DeviceBridge
import Fleet

/// The key that says what a step does.
enum StepKind: String, CaseIterable, Sendable {
  case arrange, request, start, finish, until, launch, revive, lock, door, ready, app, files, screen, log
  case repeatSteps = "repeat"
  case forEach = "for-each"
  case wait
  case person = "operator"
  case command

  /// The keys of a step of this kind, its own first.
  var form: Form { Form("'\(rawValue)'", fields) }

  private var fields: [Field] {
    switch self {
    case .arrange: [own(Forms.states, "Brings the phone or the app into a state, and reads it back.")]
    case .request:
      [Forms.request] + Forms.requestFields + [
        Forms.expect, .optional("retry-within", .duration, "Repeats the request until the expectation holds."),
      ]
    case .start:
      [own(.text, "A name for a request that goes on beside the following steps."), Forms.request]
        + Forms.requestFields
    case .finish: [own(.text, "Waits for the started request of that name, and judges its answer."), Forms.expect]
    case .until:
      [
        own(.either([.form(Self.untilRequest), .form(Self.untilLock)]), "Asks again and again until it holds."),
        .required("within", .duration, "It must hold by then."),
        .optional("every", .duration, "The pause between two looks; else 200ms."),
      ]
    case .launch:
      [own(.either([.form(Self.launchForm), .nothing]), "Launches the app over the cable; it must live for a second.")]
    case .revive: [own(.words(Self.outcomes), "Revives the app once, and expects that outcome.")]
    case .lock: [own(.words(Self.locks), "Reads the phone's lock."), Self.within]
    case .door:
      [
        own(.words(["answers", "silent"]), "Calls the door's hello."), Self.within,
        .optional("for", .duration, "It must hold all that time."),
      ]
    case .ready:
      [
        own(.form(Self.readyForm), "Asks whether a capture would be refused before it reaches the door."), Forms.expect,
        Self.within,
      ]
    case .app: [own(.form(Self.appForm), "Looks at the installed build's Info dictionary.")]
    case .files: [own(.form(Self.filesForm), "Looks for files in the app's container."), Self.within]
    case .screen: [own(.form(Self.screenForm), "Looks at the screen, in memory."), Self.within]
    case .log: [own(.form(Self.logForm), "Looks at the phone's log since the scenario began."), Self.within]
    case .repeatSteps:
      [
        own(.whole(1...1_000), "Runs its steps so many times."),
        .required("steps", .steps, "The steps that are repeated."),
      ]
    case .forEach:
      [
        own(.names(.list(.text)), "Runs its steps for each value; {name} stands for it in their texts."),
        .required("steps", .steps, "The steps that are run for each value."),
      ]
    case .wait: [own(.duration, "Waits that long.")]
    case .person: [own(.text, "Asks the person beside the phone to do something; only with --attended."), Self.limit]
    case .command: [own(.list(.text), "Runs a command of the lab: the program and its arguments."), Self.limit]
    }
  }

  private func own(_ shape: Shape, _ about: String) -> Field { .required(rawValue, shape, about) }

  private static let within = Field.optional("within", .duration, "Keeps looking until then.")
  private static let limit = Field.optional("deadline", .duration, "How long it may take.")

  static let locks = [LockState.locked, .unlocked].map(\.rawValue)

  /// Every outcome a revival can have, as `kind` and `kind/reason`.
  static let outcomes = OutcomeKind.allCases.flatMap { kind in
    [kind.rawValue] + kind.reasons.map { "\(kind.rawValue)/\($0.rawValue)" }
  }

  static let untilRequest = Form("until", [Forms.request] + Forms.requestFields + [Forms.expect])
  static let untilLock = Form(
    "until: {lock: …}", [.required("lock", .words(locks), "Waits until the phone's lock is so.")])

  static let launchForm = Form(
    "launch",
    [
      .optional("arguments", .list(.text), "Arguments of the new process."),
      .optional("environment", .names(.text), "Environment variables of the new process."),
      .optional("fresh", .flag, "Ends a running app first."),
    ])

  static let readyForm = Form(
    "ready",
    [
      .required("for", .words(CaptureWish.Kind.allCases.map(\.rawValue)), "The capture."),
      .required("camera", .text, "The camera's name."),
    ])

  static let appForm = Form(
    "app", isNeverEmpty: true,
    [
      .optional("absent", .list(.text), "Keys that the build must not carry."),
      .optional("present", .list(.text), "Keys that it must carry."),
      .optional("contains", .names(.text), "Keys, and a text that their value holds."),
    ])

  static let filesForm = Form(
    "files", isNeverEmpty: true,
    [
      .optional("none", .text, "No file fits this path; its last part may hold * and ?."),
      .optional("some", .text, "At least one file fits this path."),
    ])

  static let screenForm = Form(
    "screen", isNeverEmpty: true,
    [
      .optional("band", .words(["red"]), "The red band is up."),
      .optional("no-band", .words(["red"]), "The red band is not up."),
    ])

  static let logForm = Form("log", [.required("contains", .text, "A line holds this text.")])
}
