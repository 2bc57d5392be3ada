import Transport
import Wire

/// diagnostics_relay: restart, shutdown, sleep, and a few tables of values.
struct DiagnosticsRelay: DeviceService {
  let names = ["com.apple.mobile.diagnostics_relay", "com.apple.iosdiagnostics.relay"]
  let needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    let phone = connection.phone
    while let request = connection.receive() {
      let name = request["Request"]?.string ?? ""
      switch name {
      case "Goodbye":
        connection.send(["Status": "Success"])
        return
      case "Sleep":
        phone.record("sleep-requested")
        connection.send(["Status": "Success"])
        phone.notifications.post("com.apple.springboard.hasBlankedScreen")
      case "Restart":
        phone.record("restart-requested")
        connection.send(["Status": "Success"])
        phone.restart()
        return
      case "Shutdown":
        phone.record("shutdown-requested")
        connection.send(["Status": "Success"])
        phone.powerOff()
        return
      case "All", "GasGauge", "WiFi", "NAND":
        connection.send(["Diagnostics": diagnostics(name, phone), "Status": "Success"])
      case "MobileGestalt":
        let keys = request["MobileGestaltKeys"]?.array?.compactMap(\.string) ?? []
        connection.send(["Diagnostics": ["MobileGestalt": gestalt(keys, phone)], "Status": "Success"])
      case "IORegistry": registry(request, connection)
      default: connection.send(["Status": "UnknownRequest"])
      }
    }
  }

  private func diagnostics(_ name: String, _ phone: VirtualPhone) -> Plist {
    let battery = phone.state.with { $0.battery }
    let all: [String: Plist] = [
      "GasGauge": [
        "CycleCount": .integer(Int64(battery.cycles)), "DesignCapacity": .integer(Battery.design),
        "FullChargeCapacity": .integer(Battery.full), "Status": "Success",
      ],
      "WiFi": ["Status": "Success"], "NAND": ["Status": "Success"],
    ]
    return .dictionary(name == "All" ? all : all.filter { $0.key == name })
  }

  /// From 17.4 on the phone says only that this is no more.
  private func gestalt(_ keys: [String], _ phone: VirtualPhone) -> Plist {
    if phone.preset.isAtLeast(17, 4) { return ["Status": "MobileGestaltDeprecated"] }
    let preset = phone.preset
    let known: [String: Plist] = [
      "BuildVersion": .string(preset.build), "DeviceClass": "iPhone",
      "DeviceName": .string(phone.state.with { $0.name }),
      "HWModelStr": .string(preset.hardwareModel), "MarketingNameString": .string(preset.marketingName),
      "PasswordConfigured": .boolean(phone.state.with { $0.passcodeSet }),
      "ProductType": .string(preset.productType), "ProductVersion": .string(preset.ios),
      "SerialNumber": .string(phone.identity.serialNumber), "UniqueDeviceID": .string(phone.udid.description),
    ]
    var answer = known.filter { keys.contains($0.key) }
    answer["Status"] = "Success"
    return .dictionary(answer)
  }

  private func registry(_ request: Plist, _ connection: ServiceConnection) {
    // Planes come back empty on every system of today.
    if request["CurrentPlane"] != nil {
      connection.send(["Diagnostics": ["IORegistry": [:]], "Status": "Success"])
      return
    }
    let batteries = ["IOPMPowerSource", "AppleSmartBattery", "AppleARMPMUCharger"]
    // Clients leave the one they do not mean out, or send it empty.
    let wanted = [request["EntryClass"], request["EntryName"]].compactMap { $0?.string }.filter { !$0.isEmpty }
    guard wanted.contains(where: batteries.contains) else {
      connection.send(["Status": "Failure"])
      return
    }
    connection.send(["Diagnostics": ["IORegistry": battery(connection.phone)], "Status": "Success"])
  }

  private enum Battery {
    /// Milliampere-hours.
    static let design: Int64 = 3095
    static let full: Int64 = 2870
  }

  private func battery(_ phone: VirtualPhone) -> Plist {
    let battery = phone.state.with { $0.battery }
    let current = Battery.full * Int64(battery.percent) / 100
    return [
      "AppleRawCurrentCapacity": .integer(current), "AppleRawMaxCapacity": .integer(Battery.full),
      "CurrentCapacity": .integer(Int64(battery.percent)), "CycleCount": .integer(Int64(battery.cycles)),
      "DesignCapacity": .integer(Battery.design), "ExternalConnected": true,
      "FullyCharged": .boolean(battery.percent >= 100), "IsCharging": .boolean(battery.charging), "MaxCapacity": 100,
      "NominalChargeCapacity": .integer(Battery.full),
      // Hundredths of a degree.
      "Temperature": .integer(Int64((battery.temperature * 100).rounded())), "Voltage": 4211,
    ]
  }
}
