import Transport
import Wire

/// notification_proxy: names the host observes are relayed as they are posted.
struct NotificationProxy: DeviceService {
  /// Names one connection may observe.
  private static let observedLimit = 1024
  private static let nameLimit = 1024

  let names: [String]
  let needs: ServiceNeeds

  static let trusted = NotificationProxy(names: ["com.apple.mobile.notification_proxy"], needs: ServiceNeeds())
  /// The one that usbmuxd waits on before the phone trusts it.
  static let insecure = NotificationProxy(
    names: ["com.apple.mobile.insecure_notification_proxy"], needs: ServiceNeeds(session: false))

  func serve(_ connection: ServiceConnection) {
    let outBox = OutBox(connection.stream)
    defer { outBox.end() }
    let observed = Guarded(Set<String>())
    let observation = connection.phone.notifications.observe { name in
      guard observed.with({ $0.contains(name) }) else { return }
      outBox.push(Self.message("RelayNotification", name))
    }
    defer { observation.end() }
    while let request = connection.receive() {
      let name = request["Name"]?.string ?? ""
      switch request["Command"]?.string {
      case "ObserveNotification":
        guard name.utf8.count <= Self.nameLimit else { return }
        let isFull = observed.with { names -> Bool in
          names.insert(name)
          return names.count > Self.observedLimit
        }
        if isFull { return }
      case "PostNotification":
        connection.phone.record("notification-posted", ["name": .string(String(name.prefix(Self.nameLimit)))])
        connection.phone.notifications.post(name)
      case "Shutdown":
        outBox.send(Self.message("ProxyDeath", nil))
        return
      default: break
      }
    }
  }

  private static func message(_ command: String, _ name: String?) -> [UInt8] {
    var message: [String: Plist] = ["Command": .string(command)]
    if let name { message["Name"] = .string(name) }
    return ServiceFrame.bytes(Plist.dictionary(message).xml)
  }
}
