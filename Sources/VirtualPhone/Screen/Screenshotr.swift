import Transport
import Wire

/// com.apple.mobile.screenshotr: a picture of the screen, over DeviceLink. Made in memory and kept nowhere.
///
/// - Source: DeviceLink as libimobiledevice 1.3.0 speaks it.
struct Screenshotr: DeviceService {
  let names = ["com.apple.mobile.screenshotr"]
  let needs = ServiceNeeds(developerImage: true, goneSince: 17)

  /// The version of DeviceLink that is offered.
  private static let version: Int64 = 400

  func serve(_ connection: ServiceConnection) {
    guard connection.send(["DLMessageVersionExchange", .integer(Self.version), 0], binary: true) else { return }
    let answer = connection.receive()?.array ?? []
    guard answer.count >= 2, answer[0] == "DLMessageVersionExchange", answer[1] == "DLVersionsOk" else {
      connection.send(["DLMessageDisconnect", "Version exchange failed"], binary: true)
      return
    }
    guard connection.send(["DLMessageDeviceReady"], binary: true) else { return }
    while let message = connection.receive()?.array, message.first == "DLMessageProcessMessage", message.count >= 2 {
      guard message[1]["MessageType"] == "ScreenShotRequest" else {
        connection.send(["DLMessageDisconnect", "Unknown message"], binary: true)
        return
      }
      guard reply(connection) else { return }
    }
  }

  /// - Returns: whether the connection goes on.
  private func reply(_ connection: ServiceConnection) -> Bool {
    let phone = connection.phone
    let rules = phone.rules.with { $0 }
    let screen = phone.screen(scale: rules.screenshot.scale)
    phone.record("screenshot-taken", ["shows": .string(screen.content.word)])
    let picture = rules.screenshot.format == .png ? screen.picture.png : screen.picture.tiff
    switch rules.screenshot.fault {
    case .silent: return true
    case .close: return false
    case .refused:
      return connection.send(
        ["DLMessageProcessMessage", ["MessageType": "ScreenShotError", "Error": -1]], binary: true)
    case .empty: return send([], to: connection)
    case .garbage: return send(picture.reversed(), to: connection)
    case .cut: return send(Array(picture.prefix(picture.count / 2)), to: connection)
    case nil: return send(picture, to: connection)
    }
  }

  private func send(_ picture: [UInt8], to connection: ServiceConnection) -> Bool {
    connection.send(
      ["DLMessageProcessMessage", ["MessageType": "ScreenShotReply", "ScreenShotData": .data(picture)]], binary: true)
  }
}
