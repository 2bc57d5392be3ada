import Transport
import Wire

/// com.apple.springboardservices: icons, wallpaper, and how the phone is held. It knows neither the lock nor the front.
struct SpringBoardServices: DeviceService {
  let names = ["com.apple.springboardservices"]
  let needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    while let request = connection.receive() {
      let phone = connection.phone
      // Lower case, unlike everywhere else.
      let command = request["command"]?.string ?? ""
      phone.record("springboard-asked", ["command": .string(String(command.prefix(64)))])
      switch command {
      case "getInterfaceOrientation": connection.send(["interfaceOrientation": 1], binary: true)
      case "getIconState": connection.send(iconState(phone), binary: true)
      // No client waits for an answer.
      case "setIconState": break
      case "getIconPNGData":
        let bundle = request["bundleId"]?.string ?? ""
        let icon: Plist = phone.app.installed(bundle).map { ["pngData": .data(Self.icon($0).png)] } ?? [:]
        connection.send(icon, binary: true)
      case "getHomeScreenWallpaperPNGData":
        let screen = phone.screen(scale: 4)
        let wallpaper = Picture(width: screen.width, height: screen.height, .init(0.30, 0.52, 0.74))
        connection.send(["pngData": .data(wallpaper.png)], binary: true)
      case "getHomeScreenIconMetrics":
        connection.send(
          [
            "homeScreenIconColumns": 4.0, "homeScreenIconDockMaxCount": 4.0, "homeScreenIconHeight": 60.0,
            "homeScreenIconMaxPages": 15.0, "homeScreenIconRows": 6.0, "homeScreenIconWidth": 60.0,
          ], binary: true)
      default: connection.send(["Error": "UnknownCommand"], binary: true)
      }
    }
  }

  /// The dock, then one page.
  private func iconState(_ phone: VirtualPhone) -> Plist {
    let icons = phone.app.allInstalled.map { app -> Plist in
      [
        "bundleIdentifier": .string(app.bundle), "displayIdentifier": .string(app.bundle),
        "displayName": .string(app.name), "iconModDate": .date(0),
      ]
    }
    return [.array(Array(icons.prefix(4))), .array(Array(icons.dropFirst(4)))]
  }

  private static func icon(_ app: InstalledApp) -> Picture {
    let shade = Double(app.bundle.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFF }) / 255
    var icon = Picture(width: 60, height: 60, .init(0.2, shade, 0.8))
    icon.fill(x: 18, y: 18, width: 24, height: 24, .white)
    return icon
  }
}
