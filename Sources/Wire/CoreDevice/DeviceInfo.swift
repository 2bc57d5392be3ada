/// What `getlockstate` answers. Newer phones may say that it is not implemented.
///
/// - Source: published output of devicectl; that the raw answer has the same keys is assumed.
public struct LockStateOutput: Equatable, Sendable {
  /// The screen is locked, and a passcode is asked for.
  public var passcodeRequired: Bool
  public var unlockedSinceBoot: Bool

  public init(passcodeRequired: Bool, unlockedSinceBoot: Bool) {
    self.passcodeRequired = passcodeRequired
    self.unlockedSinceBoot = unlockedSinceBoot
  }

  public init(_ body: XPCValue) throws(ShapeError) {
    self.init(
      passcodeRequired: try body.flag("passcodeRequired"), unlockedSinceBoot: try body.flag("unlockedSinceBoot"))
  }

  public var body: XPCValue {
    ["passcodeRequired": .bool(passcodeRequired), "unlockedSinceBoot": .bool(unlockedSinceBoot)]
  }
}

/// What `capturescreenshot` is asked for.
public struct ScreenshotInput: Equatable, Sendable {
  /// Nil is the phone's own screen.
  public var display: String?
  public var format: String

  public init(display: String? = nil, format: String = "png") {
    self.display = display
    self.format = format
  }

  public init(_ body: XPCValue) throws(ShapeError) {
    self.init(display: body["displayUniqueID"]?.string, format: try body.text("requestedFormat"))
  }

  public var body: XPCValue {
    var entries: [String: XPCValue] = ["requestedFormat": .string(format)]
    if let display { entries["displayUniqueID"] = .string(display) }
    return .dictionary(entries)
  }
}

/// What `capturescreenshot` answers.
public struct ScreenshotOutput: Equatable, Sendable {
  public var image: [UInt8]
  public var format: String?
  public var display: String?

  public init(image: [UInt8], format: String?, display: String? = nil) {
    self.image = image
    self.format = format
    self.display = display
  }

  public init(_ body: XPCValue) throws(ShapeError) {
    guard let image = body["image"]?.bytes else { throw ShapeError("image") }
    self.init(image: image, format: body["imageFormat"]?.string, display: body["displayUniqueID"]?.string)
  }

  public var body: XPCValue {
    var entries: [String: XPCValue] = ["image": .data(image)]
    if let format { entries["imageFormat"] = .string(format) }
    if let display { entries["displayUniqueID"] = .string(display) }
    return .dictionary(entries)
  }
}
