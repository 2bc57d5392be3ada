import Transport
import Wire

/// com.apple.mobile.house_arrest: one command, and then AFC on an app's container over the same connection.
struct HouseArrest: DeviceService {
  let names = ["com.apple.mobile.house_arrest"]
  let needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    guard let request = connection.receive() else { return }
    let command = request["Command"]?.string ?? ""
    let bundle = request["Identifier"]?.string ?? ""
    connection.phone.record(
      "container-requested",
      ["bundle": .string(String(bundle.prefix(256))), "command": .string(String(command.prefix(64)))])
    switch vend(command, bundle, connection.phone) {
    case .refused(let error): connection.send(["Error": .string(error)])
    case .container(let tree, let visible):
      guard connection.send(["Status": "Complete"]) else { return }
      AFCSession(connection, tree, visible: visible).run()
    }
  }

  private enum Outcome {
    case container(Guarded<FileTree>, visible: Set<String>?)
    case refused(String)
  }

  private func vend(_ command: String, _ bundle: String, _ phone: VirtualPhone) -> Outcome {
    guard command == "VendContainer" || command == "VendDocuments" else { return .refused("UnknownCommand") }
    guard let app = phone.app.installed(bundle) else { return .refused("ApplicationLookupFailed") }
    guard let tree = phone.app.container(bundle) else { return .refused("InstallationLookupFailed") }
    if command == "VendDocuments" {
      guard app.sharesDocuments else { return .refused("InstallationLookupFailed") }
      return .container(tree, visible: ["Documents"])
    }
    // A build from the store keeps its container to itself.
    return app.isDebuggable ? .container(tree, visible: nil) : .refused("InstallationLookupFailed")
  }
}
