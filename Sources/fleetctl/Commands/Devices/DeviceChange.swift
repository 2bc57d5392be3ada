import DeviceBridge
import Wire

/// One line of `fleetctl devices --watch`.
struct DeviceChange: Sendable {
  enum Event: String, Sendable {
    case attached, changed, detached
    /// Until the daemon is back nothing is known of any phone.
    case daemonLost = "daemon-lost"
    case daemonBack = "daemon-back"
  }

  var event: Event
  /// The phone as it is now, or as it was told last where it has left; nil for the daemon's own events.
  var report: DeviceReport?
  /// As it was told before, for a change.
  var was: DeviceReport?
  /// Why the daemon cannot be heard.
  var error: PhoneError?

  /// The keys of `fleetctl devices --json`, with `at` and `event`.
  func json(at time: String) -> JSON {
    var object = (report?.json ?? DeviceReport.nobody).object ?? [:]
    if event == .detached, let report { object = report.departed.object ?? [:] }
    object["at"] = .string(time)
    object["event"] = .string(event.rawValue)
    if let error { object["error"] = .string(error.sentence) }
    return .object(object)
  }

  /// For people; the daemon's events are no results and go to standard error.
  func line(at time: String) -> String? {
    guard let report else { return nil }
    let title = report.name ?? report.phone.udid.description
    let rest: [String] =
      switch event {
      case .attached: report.cells.map { $0.isEmpty ? "-" : $0 }
      case .changed: [title, differences]
      case .detached: [title]
      case .daemonLost, .daemonBack: []
      }
    return ([time, Self.padded(event.rawValue)] + rest).map(\.printable).joined(separator: "  ")
  }

  /// `lock locked → unlocked, door silent → answers`.
  private var differences: String {
    guard let was, let report else { return "" }
    return zip(DeviceReport.columns, zip(was.cells, report.cells)).compactMap { column, cells in
      let (before, after) = cells
      guard before != after else { return nil }
      return "\(column.lowercased()) \(before.isEmpty ? "-" : before) → \(after.isEmpty ? "-" : after)"
    }.joined(separator: ", ")
  }

  private static func padded(_ word: String) -> String {
    let width = Event.attached.rawValue.count
    return word + String(repeating: " ", count: max(0, width - word.count))
  }
}

extension DeviceReport {
  /// What is left of a phone that has gone: who it was. The rest would look as if it still were so.
  fileprivate var departed: JSON {
    var object = Self.nobody.object ?? [:]
    object["udid"] = .string(phone.udid.description)
    object["body"] = .text(body)
    object["device_name"] = .text(facts.deviceName)
    return .object(object)
  }

  /// The keys of a line, all of them null.
  fileprivate static let nobody: JSON = .object(
    Dictionary(
      uniqueKeysWithValues: [
        "body", "udid", "device_name", "model", "ios", "transport", "usb_port", "temperature_c", "battery_percent",
        "trust", "lock", "app", "door", "hello_ms", "error",
      ].map { ($0, JSON.null) }))
}
