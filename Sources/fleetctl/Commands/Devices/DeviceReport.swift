import DeviceBridge
import Wire

/// Where the kiosk app is on its phone.
enum AppPresence: String, Sendable {
  /// The door's hello says that it is active.
  case front
  /// Another answer came, or the process list has it.
  case running
  case notRunning = "not-running"
  case notInstalled = "not-installed"
  case unknown
}

/// Whether the app's door answers.
enum DoorPresence: String, Sendable { case answers, silent, unknown }

/// What one visit to one attached phone found: a line of `fleetctl devices`.
struct DeviceReport: Sendable {
  /// fleet.yaml's name.
  var body: String?
  var phone: ListedPhone
  var facts: PhoneFacts
  var app = AppPresence.unknown
  var door = DoorPresence.unknown
  /// How long the door's hello took, where it answered.
  var hello: Duration?
  /// The sysfs path of its USB port, such as `1-2.3`.
  var usbPort: String?
  /// nil where it was not asked.
  var power: PowerReading?

  /// A name for people: fleet.yaml's, else the phone's own; a phone that has none is called by its identifier's end.
  ///
  /// - Returns: nil where the phone could not be asked: a name from elsewhere would look fresh.
  var name: String? {
    if let body { return body }
    if let name = facts.deviceName, !name.isEmpty { return name }
    return facts.error == nil ? "iPhone \u{2026}\(phone.udid.tail)" : nil
  }

  /// udid name model ios transport trust lock app door.
  var cells: [String] {
    [
      phone.udid.description, name ?? "", facts.model ?? "", facts.ios ?? "", phone.transport.rawValue,
      facts.trust.rawValue, facts.lock.state.rawValue, app.rawValue, door.rawValue,
    ]
  }

  static let columns = ["UDID", "NAME", "MODEL", "IOS", "TRANSPORT", "TRUST", "LOCK", "APP", "DOOR"]

  var json: JSON {
    [
      "body": .text(body), "udid": .string(phone.udid.description), "device_name": .text(facts.deviceName),
      "model": .text(facts.model), "ios": .text(facts.ios), "transport": .string(phone.transport.rawValue),
      "usb_port": .text(usbPort), "temperature_c": power?.temperature.map { .number($0) } ?? .null,
      "battery_percent": (facts.batteryPercent ?? power?.percent).map { .integer(Int64($0)) } ?? .null,
      "trust": .string(facts.trust.rawValue), "lock": .string(facts.lock.state.rawValue), "app": .string(app.rawValue),
      "door": .string(door.rawValue), "hello_ms": hello.map { .number($0.milliseconds) } ?? .null,
      "error": .text(facts.error?.sentence),
    ]
  }
}
