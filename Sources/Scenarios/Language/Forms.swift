import DeviceBridge
import Fleet

/// The forms of a scenario file, steps aside.
enum Forms {
  static let states = Shape.words(BodyState.allCases.map(\.rawValue))

  static let scenario = Form(
    "a scenario",
    [
      .required("scenario", .text, "The scenario's name: one line, the same in every report."),
      .optional("about", .text, "A sentence on what the app promises."),
      .optional("tags", .list(.text), "Words that --tag and --exclude-tag choose by."),
      .optional("needs", .list(states), "States that must hold before the first step; else the scenario is skipped."),
      .required("steps", .steps, "What is done and looked at, in order; the first step that does not hold ends them."),
      .optional("recovers", .steps, "Always run, after the undo, and judged: the app is back."),
      .optional("quarantine", .form(quarantine), "A known fault: it still runs, and is reported apart."),
    ])

  static let quarantine = Form(
    "quarantine",
    [
      .required("reason", .text, "What is wrong, in a sentence."),
      .optional("until", .day, "The last day of it; from the next day on the scenario counts again."),
      .optional("ticket", .text, "Where the fault is written down."),
      .optional("on", .list(.text), "Names of bodies, and tag:T; left out where the fault is known on every body."),
    ])

  // MARK: - Requests

  /// What may stand beside `request`, wherever it stands.
  static let requestFields: [Field] = [
    .optional("headers", .names(.text), "Header fields that are sent."),
    .optional("body", .text, "The body that is sent."),
    .optional("token", .words(["none", "wrong"]), "Sends no bearer token, or a wrong one; else the configured one."),
    .optional("deadline", .duration, "The request's own limit; else the caller's clock of docs/door.md, or 10s."),
  ]

  static let expect = Field.optional("expect", .form(expectation), "What must be true of the answer.")
  static let request = Field.required("request", .request, "A request to the app's door: METHOD PATH.")

  static let expectation = Form(
    "expect", isNeverEmpty: true,
    [
      .optional("status", .whole(100...599), "The status of the answer."),
      .optional("type", .text, "The media type, its parameters aside, such as image/jpeg."),
      .optional(
        "json", .names(.either([.form(matcher), .value])), "Paths such as grants.camera, and what stands there."),
      .optional("header", .names(.either([.form(matcher), .text])), "Header fields, and what they hold."),
      .optional("within", .duration, "The whole answer is there by then."),
      .optional("size", .form(size), "Bytes of the body."),
      .optional("jpeg", .form(jpeg), "What the picture is; it is looked at in memory and dropped."),
      .optional(
        "answer", .words(Expectation.Silence.allCases.map(\.rawValue)),
        "No response: the connect is refused, no byte comes by the deadline, or it is closed before its end."),
    ])

  static let matcher = Form(
    "an expected value", isNeverEmpty: true,
    [
      .optional("contains", .value, "A text that holds this one, or a list that has such an element."),
      .optional("matches", .text, "A text in which the regular expression is found."),
      .optional("equals", .value, "The same value."),
      .optional("exists", .flag, "Whether there is a value at all; null is one."),
      .optional("one-of", .list(.value), "One of these values."),
    ])

  static let size = Form(
    "size", isNeverEmpty: true,
    [
      .optional("min", .whole(0...Int.max), "At least so many bytes."),
      .optional("max", .whole(0...Int.max), "At most so many bytes."),
    ])

  private static let side = Shape.either([.whole(1...65_535), .form(range)])
  static let range = Form(
    "a range", isNeverEmpty: true,
    [
      .optional("min", .whole(1...65_535), "At least that."),
      .optional("max", .whole(1...65_535), "At most that."),
    ])

  static let jpeg = Form(
    "jpeg", isNeverEmpty: true,
    [
      .optional("exif", .flag, "Whether it carries EXIF."),
      .optional("gps", .flag, "Whether its EXIF names a place."),
      .optional("width", side, "Pixels from left to right, or their range."),
      .optional("height", side, "Pixels from top to bottom, or their range."),
    ])
}
