/// What `launchapplication` is asked for.
public struct LaunchInput: Equatable, Sendable {
  public var bundle: String
  /// Those behind the program's own name.
  public var arguments: [String]
  public var environment: [String: String]
  /// Ends a running instance first; without it a running one is brought to the front.
  public var terminatesExisting: Bool
  /// Brings the app to the front.
  public var activates: Bool
  /// Waits for a debugger before the first instruction.
  public var startsStopped: Bool

  public init(
    bundle: String, arguments: [String] = [], environment: [String: String] = [:], terminatesExisting: Bool = true,
    activates: Bool = true, startsStopped: Bool = false
  ) {
    self.bundle = bundle
    self.arguments = arguments
    self.environment = environment
    self.terminatesExisting = terminatesExisting
    self.activates = activates
    self.startsStopped = startsStopped
  }

  public init(_ body: XPCValue) throws(ShapeError) {
    guard let bundle = body["applicationSpecifier"]?["bundleIdentifier"]?["_0"]?.string else {
      throw ShapeError("applicationSpecifier")
    }
    guard let options = body["options"], options.dictionary != nil else { throw ShapeError("options") }
    let arguments = options["arguments"]?.array ?? []
    let environment = options["environmentVariables"]?.dictionary ?? [:]
    guard arguments.allSatisfy({ $0.string != nil }) else { throw ShapeError("arguments") }
    guard environment.values.allSatisfy({ $0.string != nil }) else { throw ShapeError("environmentVariables") }
    self.init(
      bundle: bundle, arguments: arguments.compactMap(\.string), environment: environment.compactMapValues(\.string),
      terminatesExisting: options["terminateExisting"]?.bool ?? false, activates: try Self.activates(options),
      startsStopped: options["startStopped"]?.bool ?? false)
  }

  public var body: XPCValue {
    let platform: Plist = activates ? [:] : ["ActivateSuspended": true]
    return [
      "applicationSpecifier": ["bundleIdentifier": ["_0": .string(bundle)]], "standardIOIdentifiers": [:],
      "options": [
        "arguments": .texts(arguments), "environmentVariables": .texts(environment),
        "standardIOUsesPseudoterminals": true, "startStopped": .bool(startsStopped),
        "terminateExisting": .bool(terminatesExisting), "user": ["active": true],
        "platformSpecificOptions": .data(platform.xml),
      ],
    ]
  }

  /// The options of the phone's app launcher come as a property list, in either form.
  private static func activates(_ options: XPCValue) throws(ShapeError) -> Bool {
    guard let bytes = options["platformSpecificOptions"]?.bytes, !bytes.isEmpty else { return true }
    guard let plist = try? Plist(parsing: bytes), plist.dictionary != nil else {
      throw ShapeError("platformSpecificOptions")
    }
    let suspended = plist["ActivateSuspended"]
    return !(suspended?.boolean ?? (suspended?.int == 1))
  }
}
