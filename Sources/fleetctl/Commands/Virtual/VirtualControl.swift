import Transport
import VirtualPhone
import Fleet

/// Finds the control socket of a running fleet.
enum VirtualControl {
  static let option = OptionSpec.value("control", "PATH", "the fleet's control socket (else FLEETCTL_VIRTUAL)")

  static func client(_ context: Context) throws(Complaint) -> ControlClient {
    let named = try context.usage { () throws(UsageError) in
      try VirtualOptions.socketPath("control", context.invocation)
    }
    let path = named ?? context.environment["FLEETCTL_VIRTUAL"] ?? ""
    guard !path.isEmpty else {
      throw Complaint(
        .usage,
        "No fleet of virtual phones is named. Neither --control nor FLEETCTL_VIRTUAL says where one listens. "
          + "Start one, and set the FLEETCTL_VIRTUAL that it prints: fleetctl virtual.")
    }
    guard path.utf8.count <= SocketAddress.maximumPathBytes else {
      throw Complaint(
        .usage,
        "FLEETCTL_VIRTUAL holds \(path.utf8.count) bytes, and a socket's path has at most "
          + "\(SocketAddress.maximumPathBytes). It is not what a fleet has printed. Start one: fleetctl virtual.")
    }
    return ControlClient(path: path)
  }
}
