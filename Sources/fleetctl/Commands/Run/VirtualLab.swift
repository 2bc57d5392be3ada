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

  func body(of phone: VirtualPhone, number: Int, as listed: ListedPhone?, bundle: String) -> Body {
    var configuration = FleetConfiguration()
    configuration.app.bundle = bundle
    configuration.arrange = means(for: phone)
    return Body(
      BodyEntry(
        udid: phone.udid, name: "virtual-\(number)", tags: ["virtual", "ios\(phone.preset.major)"],
        under: configuration), phone: listed)
  }

  private func means(for phone: VirtualPhone) -> [BodyState: ArrangeMeans] {
    var actions: [BodyState: [String]] = [
      .locked: ["lock"], .unlocked: ["unlock"], .inBackground: ["background"], .cameraGranted: ["grant"],
      .appInstalled: ["install-app"],
    ]
    // Up to iOS 16 the bridge launches by itself, and is to be seen doing it.
    if phone.preset.major >= 17 { actions[.inFront] = ["launch-app"] }
    return actions.mapValues { action in
      ArrangeMeans(command: [executable, "virtual", "do", "{udid}"] + action + ["--control", control])
    }
  }
}
