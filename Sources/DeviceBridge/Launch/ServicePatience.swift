import Transport
import Wire

/// How often a service is asked for that is missing though the phone should have it: right after a mount or a boot it
/// appears some seconds late.
struct ServicePatience: Equatable, Sendable {
  /// The asking included that found it missing.
  static let askings = 3
  /// From the first asking to the last.
  static let span = Duration.seconds(10)
  private static let pauses: [Duration] = [.seconds(2), .seconds(5)]

  private(set) var asked = 1

  /// How long to wait before it is asked for once more.
  ///
  /// - Parameter elapsed: since the first asking.
  /// - Returns: nil when it is missing: asked for often enough, or for long enough.
  mutating func pause(after elapsed: Duration) -> Duration? {
    guard asked < Self.askings else { return nil }
    let pause = Self.pauses[asked - 1]
    guard elapsed + pause <= Self.span else { return nil }
    asked += 1
    return pause
  }
}

/// A service that was asked for patiently, and in vain.
struct MissingService: Hashable {
  let name: String
  /// The daemon's for the phone: another one after it was away.
  let number: Int?
}

extension PhoneWork {
  /// What is left for the asking itself when a pause has used up the rest of the call's time.
  private static let reserve = Duration.seconds(1)

  /// Asks for what a service is reached by, more than once where it is missing and should be there. One that was asked
  /// for so in vain is asked for once from then on, until the phone has been away or an image was mounted.
  ///
  /// - Parameter isDue: asked once, when it is missing.
  /// - Returns: nil when it is missing.
  func patiently<T>(
    _ service: String, _ step: String, isDue: () throws(PhoneError) -> Bool, _ ask: () throws(PhoneError) -> T?
  ) throws(PhoneError) -> T? {
    if let found = try ask() { return found }
    let start = ContinuousClock.now
    let known = MissingService(name: service, number: context.number)
    guard !missing.contains(known), try isDue() else { return nil }
    var patience = ServicePatience()
    while let pause = patience.pause(after: .now - start) {
      guard context.deadline.remaining > pause + Self.reserve else { return nil }
      context.pause(pause)
      if let ended = context.ended(at: step) { throw ended }
      if let found = try ask() { return found }
    }
    missing.insert(known)
    return nil
  }

  /// Whether the phone should have the services of its developer image.
  func hasDeveloperImage() throws(PhoneError) -> Bool {
    if try isDeveloperModeOff(try systemVersion().major) { return false }
    return try developerImage().isMounted
  }

  /// - Parameter major: of iOS; before 16 there was no such switch.
  func isDeveloperModeOff(_ major: Int) throws(PhoneError) -> Bool {
    guard major >= 16 else { return false }
    return try value("DeveloperModeStatus", in: "com.apple.security.mac.amfi") == .boolean(false)
  }
}
