import Wire

/// fleet.yaml, typed, with every default filled in.
public struct FleetConfiguration: Equatable, Sendable {
  /// Where it was read; nil when there is no fleet.yaml and the defaults hold.
  public var file: String?
  public var app = AppSettings()
  public var door = DoorSettings()
  public var supervise = SuperviseSettings()
  public var hands = HandsSettings()
  public var images = ImageSettings()
  public var record = RecordSettings()
  public var arrange: [BodyState: ArrangeMeans] = [:]
  /// Values that no output may show, by the name that fleet.yaml gives them.
  public var secrets: [String: Secret] = [:]
  /// nil: every attached phone is a body. Otherwise only these are.
  public var bodies: [BodyEntry]?

  public init() {}
}

/// One entry of fleet.yaml's `bodies`, with what it overrides already laid over the file's own settings.
public struct BodyEntry: Equatable, Sendable {
  public var udid: UDID
  public var name: String?
  public var tags: [String]
  public var app: AppSettings
  public var door: DoorSettings
  public var supervise: SuperviseSettings
  public var hands: HandsSettings
  public var arrange: [BodyState: ArrangeMeans]
  public var outOfService: OutOfService?
  /// Where the entry stands in the file.
  public var line: Int

  public init(udid: UDID, name: String? = nil, tags: [String] = [], under configuration: FleetConfiguration) {
    self.udid = udid
    self.name = name
    self.tags = tags
    app = configuration.app
    door = configuration.door
    supervise = configuration.supervise
    hands = configuration.hands
    arrange = configuration.arrange
    line = 0
  }
}

/// A body that is listed, and neither probed nor judged until the day is over.
public struct OutOfService: Equatable, Sendable {
  public var reason: String
  /// The last day of it; nil: until the entry is taken out.
  public var until: CalendarDay?

  public init(reason: String, until: CalendarDay?) {
    self.reason = reason
    self.until = until
  }

  public func holds(on day: CalendarDay) -> Bool {
    guard let until else { return true }
    return day <= until
  }
}
