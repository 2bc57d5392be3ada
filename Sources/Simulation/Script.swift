import Fleet
import Wire

/// One thing that happens, and when.
public struct ScriptLine: Equatable, Sendable {
  /// Since the beginning.
  public var at: Duration
  /// The phone's index; of a host's verb, the phone whose hub is meant.
  public var phone: Int
  public var verb: Verb
  public var span: Duration?

  public enum Verb: Equatable, Sendable {
    case phone(PhoneVerb)
    case host(HostVerb)
  }

  public init(_ at: Duration, _ phone: Int, _ verb: PhoneVerb, _ span: Duration? = nil) {
    (self.at, self.phone, self.span) = (at, phone, span)
    self.verb = .phone(verb)
  }

  public init(_ at: Duration, _ verb: HostVerb, phone: Int = 0, _ span: Duration? = nil) {
    (self.at, self.phone, self.span) = (at, phone, span)
    self.verb = .host(verb)
  }

  /// Such as `1:02:03.500 b7 reboot 40s`.
  public var text: String {
    let word =
      switch verb {
      case .phone(let verb): verb.rawValue
      case .host(let verb): verb.rawValue
      }
    let span = span.map { " \(Self.text($0))" } ?? ""
    return "\(Self.clock(at)) b\(phone) \(word)\(span)"
  }

  /// Reads what `text` writes; without a phone it is the first.
  public init?(text: some StringProtocol) {
    var words = String(text).split(separator: " ").map(String.init)
    guard words.count >= 2, let at = Self.moment(words.removeFirst()) else { return nil }
    var phone = 0
    if words[0].hasPrefix("b"), let index = Int(words[0].dropFirst()) {
      phone = index
      words.removeFirst()
    }
    guard (1...2).contains(words.count) else { return nil }
    var span: Duration?
    if words.count == 2 {
      guard let parsed = Duration(text: words[1]) else { return nil }
      span = parsed
    }
    if let verb = PhoneVerb(rawValue: words[0]) {
      self.init(at, phone, verb, span)
    } else if let verb = HostVerb(rawValue: words[0]) {
      self.init(at, verb, phone: phone, span)
    } else {
      return nil
    }
  }

  /// `h:mm:ss` with milliseconds where there are any.
  public static func clock(_ moment: Duration) -> String {
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let milliseconds = moment.inNanoseconds / 1_000_000
    let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000)
    let fraction = rest == 0 ? "" : "." + String(1_000 + rest).dropFirst()
    return "\(seconds / 3_600):\(two(seconds / 60 % 60)):\(two(seconds % 60))\(fraction)"
  }

  /// `h:mm:ss`, `m:ss`, either with a fraction.
  public static func moment(_ text: some StringProtocol) -> Duration? {
    let parts = String(text).split(separator: ":").map(String.init)
    guard (2...3).contains(parts.count) else { return nil }
    var total = Duration.zero
    for part in parts {
      guard let span = Duration(text: part + "s") else { return nil }
      total = total * 60 + span
    }
    return total
  }

  private static func text(_ span: Duration) -> String {
    let milliseconds = span.inNanoseconds / 1_000_000
    return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000)s" : "\(milliseconds)ms"
  }
}

extension [ScriptLine] {
  /// One line each; empty ones and what follows a `#` are passed over.
  public init?(script text: String) {
    self.init()
    for line in text.split(separator: "\n") {
      let plain = line.prefix { $0 != "#" }
      if plain.allSatisfy({ $0 == " " }) { continue }
      guard let parsed = ScriptLine(text: plain) else { return nil }
      append(parsed)
    }
  }

  public var script: String { map(\.text).joined(separator: "\n") }
}
