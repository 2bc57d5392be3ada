import VirtualPhone

/// Finds the control socket of a running fleet.
enum VirtualControl {
  static let option = OptionSpec.value("control", "PATH", "the fleet's control socket (else FLEETCTL_VIRTUAL)")

  static func client(_ context: Context) throws(Complaint) -> ControlClient {
    let path = context.invocation.value("control") ?? context.environment["FLEETCTL_VIRTUAL"] ?? ""
    guard !path.isEmpty else {
      throw Complaint(
        .usage,
        "No fleet of virtual phones is named. Neither --control nor FLEETCTL_VIRTUAL says where one listens. "
          + "Start one, and set the FLEETCTL_VIRTUAL that it prints: fleetctl virtual.")
    }
    return ControlClient(path: path)
  }
}
