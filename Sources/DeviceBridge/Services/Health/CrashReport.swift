import Wire

/// What a crash report says, as far as it is of use without the rest.
public struct CrashReport: Equatable, Sendable {
  /// The file's name on the phone.
  public var name: String
  /// How old it was when it was read, by the phone's own clock; nil where the phone does not tell.
  public var age: Duration?
  /// Such as `EXC_CRASH (SIGABRT)`; nil where the report does not tell.
  public var type: String?
  /// The place where it crashed, such as `Kiosk -[Camera start] + 12`.
  public var topFrame: String?

  public init(name: String, age: Duration?, type: String?, topFrame: String?) {
    self.name = name
    self.age = age
    self.type = type
    self.topFrame = topFrame
  }
}

extension CrashReport {
  /// Reads type and place out of a report: a line of JSON and then either JSON (iOS 15 and later) or text.
  static func facts(_ bytes: [UInt8]) -> (type: String?, topFrame: String?) {
    guard let end = bytes.firstIndex(of: 0x0A) else { return (nil, nil) }
    let body = Array(bytes[(end + 1)...])
    if let json = JSON(parsing: body), json.object != nil { return facts(json) }
    return facts(lines: String(decoding: body, as: UTF8.self).split(whereSeparator: \.isNewline))
  }

  private static func facts(_ report: JSON) -> (type: String?, topFrame: String?) {
    let exception = report["exception"]
    var type = exception?["type"]?.string ?? report["termination"]?["namespace"]?.string
    if let name = type, let signal = exception?["signal"]?.string { type = "\(name) (\(signal))" }
    let threads = report["threads"]?.array ?? []
    let faulting = report["faultingThread"]?.int
    let thread =
      threads.first { $0["triggered"]?.boolean == true }
      ?? faulting.flatMap { threads.indices.contains($0) ? threads[$0] : nil }
    let frame = thread?["frames"]?.array?.first.map { Self.frame($0, report["usedImages"]?.array ?? []) }
    return (type.map(PhoneText.clean), frame.map(PhoneText.clean))
  }

  private static func frame(_ frame: JSON, _ images: [JSON]) -> String {
    let image =
      frame["imageIndex"]?.int.flatMap { images.indices.contains($0) ? images[$0]["name"]?.string : nil } ?? "?"
    if let symbol = frame["symbol"]?.string {
      let offset = frame["symbolLocation"]?.int.map { " + \($0)" } ?? ""
      return "\(image) \(symbol)\(offset)"
    }
    return "\(image) + \(frame["imageOffset"]?.int ?? 0)"
  }

  /// The older form: `Exception Type:  …`, and the frames below `Thread N Crashed:`.
  private static func facts(lines: [Substring]) -> (type: String?, topFrame: String?) {
    var type: String?
    var frame: String?
    var isBelow = false
    for line in lines {
      if type == nil, line.hasPrefix("Exception Type:") {
        type = line.dropFirst("Exception Type:".count).drop { $0 == " " }.description
      } else if line.hasPrefix("Thread "), line.contains(" Crashed") {
        isBelow = true
      } else if isBelow, line.first == "0" {
        // Number, image, address, then the symbol and its offset.
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: true)
        if words.count >= 3 { frame = "\(words[1]) \(words.count > 3 ? words[3] : words[2])" }
        break
      }
    }
    return (type.map(PhoneText.clean), frame.map(PhoneText.clean))
  }
}
