import DeviceBridge
import Wire

/// A phone that runs a kiosk app in front, with the settings that hold for it.
public struct Body: Equatable, Sendable {
  /// fleet.yaml's name.
  public var name: String?
  public var udid: UDID
  public var tags: [String]
  public var app: AppSettings
  public var door: DoorSettings
  public var supervise: SuperviseSettings
  public var hands: HandsSettings
  public var arrange: [BodyState: ArrangeMeans]
  public var outOfService: OutOfService?
  /// The phone as the mux lists it now; nil when it is absent.
  public var phone: ListedPhone?
  /// The sysfs path of the USB port, such as `1-2.3`, where somebody has found it out.
  public var usbPort: String?

  public init(_ entry: BodyEntry, phone: ListedPhone?) {
    name = entry.name
    // What is shown and recorded is the mux's spelling.
    udid = phone?.udid ?? entry.udid
    tags = entry.tags
    app = entry.app
    door = entry.door
    supervise = entry.supervise
    hands = entry.hands
    arrange = entry.arrange
    outOfService = entry.outOfService
    self.phone = phone
  }

  /// What people call it: its name, else its UDID.
  public var title: String { name ?? udid.description }
}
