import Wire

/// What a crash report says, as far as it is of use without the rest.
public struct CrashReport: Equatable, Sendable {
  /// The file's name on the phone.
  public var name: String
  /// How old it was when it was read, by the phone's own clock; nil where the phone does not tell.
  public var age: Duration?
  /// Such as `EXC_CRASH (SIGABRT)` or `out of memory (per-process-limit)`; nil where the report does not tell.
  public var type: String?
  /// The place where it crashed, such as `Kiosk -[Camera start] + 12`; often in the system's own code.
  public var topFrame: String?
  /// The nearest place in the app's own code, where that is another one.
  public var ownFrame: String?

  public init(name: String, age: Duration?, type: String?, topFrame: String?, ownFrame: String? = nil) {
    self.name = name
    self.age = age
    self.type = type
    self.topFrame = topFrame
    self.ownFrame = ownFrame
  }
}

/// What is read out of a report's text.
struct CrashFacts: Equatable {
  var type: String?
  var topFrame: String?
  var ownFrame: String?

  /// Reads a line of JSON and what follows it: JSON (iOS 15 and later) or text.
  init(_ bytes: [UInt8]) {
    guard let end = bytes.firstIndex(of: 0x0A) else { return }
    let body = Array(bytes[(end + 1)...])
    if let report = JSON(parsing: body), report.object != nil {
      read(report)
    } else {
      read(String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline))
    }
    type = type.map(PhoneText.clean)
    topFrame = topFrame.map(PhoneText.clean)
    ownFrame = ownFrame.map(PhoneText.clean)
  }

  /// Reads a memory event: which processes the system ended so that others had memory, and why.
  ///
  /// - Returns: nil where the executable was not one of them.
  init?(memoryEvent bytes: [UInt8], of executable: String) {
    guard let end = bytes.firstIndex(of: 0x0A), let event = JSON(parsing: Array(bytes[(end + 1)...])),
      let ended = event["processes"]?.array?.first(where: { $0["name"]?.string == executable && $0["reason"] != nil })
    else { return nil }
    type = PhoneText.clean("out of memory (\(ended["reason"]?.string ?? "no reason told"))")
  }

  private mutating func read(_ report: JSON) {
    let exception = report["exception"]
    type = exception?["type"]?.string ?? report["termination"]?["namespace"]?.string
    if let name = type, let signal = exception?["signal"]?.string { type = "\(name) (\(signal))" }
    let threads = report["threads"]?.array ?? []
    let faulting = report["faultingThread"]?.int
    let thread =
      threads.first { $0["triggered"]?.boolean == true }
      ?? faulting.flatMap { threads.indices.contains($0) ? threads[$0] : nil }
    let (frames, images) = (thread?["frames"]?.array ?? [], report["usedImages"]?.array ?? [])
    topFrame = frames.first.map { Self.text($0, images) }
    guard let program = report["procName"]?.string,
      let own = frames.firstIndex(where: { Self.image(of: $0, images) == program }), own > 0
    else { return }
    ownFrame = Self.text(frames[own], images)
  }

  private static func image(of frame: JSON, _ images: [JSON]) -> String? {
    frame["imageIndex"]?.int.flatMap { images.indices.contains($0) ? images[$0]["name"]?.string : nil }
  }

  private static func text(_ frame: JSON, _ images: [JSON]) -> String {
    let image = image(of: frame, images) ?? "?"
    if let symbol = frame["symbol"]?.string {
      let offset = frame["symbolLocation"]?.int.map { " + \($0)" } ?? ""
      return "\(image) \(symbol)\(offset)"
    }
    return "\(image) + \(frame["imageOffset"]?.int ?? 0)"
  }

  /// The older form: `Exception Type:  …`, and the frames below `Thread N Crashed:`.
  private mutating func read(_ lines: [Substring]) {
    let label = "Exception Type:"
    var isBelow = false
    for line in lines {
      if type == nil, line.hasPrefix(label) {
        type = String(line.dropFirst(label.count).drop { $0 == " " })
      } else if line.hasPrefix("Thread "), line.contains(" Crashed") {
        isBelow = true
      } else if isBelow, line.first == "0" {
        // Number, image, address, then the symbol and its offset.
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true)
        if words.count >= 3 { topFrame = "\(words[1]) \(words.count > 3 ? words[3] : words[2])" }
        break
      }
    }
  }
}
