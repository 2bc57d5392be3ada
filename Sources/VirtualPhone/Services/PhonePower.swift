extension VirtualPhone {
  /// Phone time that a restart takes.
  static let restartTime = Duration.seconds(30)

  /// What the phone does when a host asks it to restart.
  func restart() { reboot(away: Self.restartTime, comesBack: true) }

  /// What it does when a host asks it to switch itself off.
  func powerOff() { reboot(away: .zero, comesBack: false) }
}
