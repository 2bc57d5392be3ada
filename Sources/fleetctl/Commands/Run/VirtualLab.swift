import DeviceBridge
import Fleet
import Glibc
import Transport
import VirtualPhone

/// The lab commands that virtual phones bring along, so that the engine need not know that they are virtual.
struct VirtualLab: Sendable {
  var executable: String
  var control: String

  /// This program's own file.
  static func ownExecutable() throws(Complaint) -> String {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count)
    guard count > 0 else {
      throw Complaint(
        .harness,
        "This program's own file cannot be found: \(Errno.text(errno)). /proc may not be mounted. "
          + "Mount it and run the command again.")
    }
    return String(decoding: path.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  /// - Parameter tokenFile: where the doors' token stands.
  func body(
    of phone: VirtualPhone, number: Int, as listed: ListedPhone?, bundle: String, tokenFile: String?
  ) -> Body {
    var configuration = FleetConfiguration()
    configuration.app.bundle = bundle
    configuration.door.tokenFile = tokenFile
    configuration.arrange = means(for: phone)
    return Body(
      BodyEntry(
        udid: phone.udid, name: "virtual-\(number)", tags: ["virtual", "ios\(phone.preset.major)"],
        under: configuration), phone: listed)
  }

  private func means(for phone: VirtualPhone) -> [BodyState: ArrangeMeans] {
    var means: [BodyState: ArrangeMeans] = [
      .locked: ArrangeMeans(command: command("lock")), .unlocked: ArrangeMeans(command: command("unlock")),
      .inBackground: ArrangeMeans(command: command("background")),
      .listenerDead: ArrangeMeans(command: command("kill-listener")),
      .cameraStuck: ArrangeMeans(
        command: command("stick-camera"), undo: LabDeed(command: command("unstick-camera"))),
      .cameraGranted: ArrangeMeans(command: command("grant")), .cameraDenied: ArrangeMeans(command: command("revoke")),
      .appInstalled: ArrangeMeans(command: command("install-app")),
      // Whoever keeps such phones mounts their images again.
      .rebooted: ArrangeMeans(command: command("reboot", "image=mounted")),
      .beforeFirstUnlock: ArrangeMeans(command: command("reboot", "image=mounted")),
    ]
    if isBeyondTheBridge(phone) {
      means[.inFront] = ArrangeMeans(command: command("launch-app"))
      means[.notRunning] = ArrangeMeans(command: command("kill-app"))
      means[.suspended] = ArrangeMeans(
        command: command("suspend"), undo: LabDeed(command: command("resume")))
    }
    return means
  }

  /// What the bridge can do itself it is to be seen doing: all but launching and stopping apps on 17.0 to 17.3.
  private func isBeyondTheBridge(_ phone: VirtualPhone) -> Bool {
    let parts = phone.preset.ios.split(separator: ".").compactMap { Int($0) }
    return parts.first == 17 && (parts.dropFirst().first ?? 0) < 4
  }

  private func command(_ action: String, _ values: String...) -> [String] {
    [executable, "virtual", "do", "{udid}", action] + values + ["--control", control]
  }
}
