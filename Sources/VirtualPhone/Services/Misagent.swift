import Transport
import Wire

/// com.apple.misagent: provisioning profiles, of which a virtual phone has none and takes none.
struct Misagent: DeviceService {
  let names = ["com.apple.misagent"]
  let needs = ServiceNeeds()

  /// What the phone answers to a profile that it does not like; the value itself is assumed.
  private static let refusal: Int64 = 0xE800_8012

  func serve(_ connection: ServiceConnection) {
    while let request = connection.receive() {
      let type = request["MessageType"]?.string ?? ""
      connection.phone.record("profiles-asked", ["request": .string(String(type.prefix(64)))])
      switch type {
      case "Copy", "CopyAll": connection.send(["Payload": [], "Status": 0])
      default: connection.send(["Status": .integer(Self.refusal)])
      }
    }
  }
}

/// com.apple.amfi.lockdown: the switch for developer mode, from iOS 16 on.
struct AMFI: DeviceService {
  let names = ["com.apple.amfi.lockdown"]
  let needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    let phone = connection.phone
    while let request = connection.receive() {
      let action = request["action"]?.int
      phone.record("developer-mode-asked", ["action": action.map { .integer(Int64($0)) } ?? .null])
      guard phone.preset.major >= 16 else {
        connection.send(["Error": "Unknown action"])
        continue
      }
      switch action {
      // Shows the switch in Settings; it is always shown here.
      case 0: connection.send(["success": true])
      case 1:
        guard !phone.state.with({ $0.passcodeSet }) else {
          connection.send(["Error": "Device has a passcode set"])
          continue
        }
        connection.send(["success": true])
        phone.restart()
        return
      case 2:
        phone.state.with { $0.developerMode = true }
        connection.send(["success": true])
      default: connection.send(["Error": "Unknown action"])
      }
    }
  }
}
