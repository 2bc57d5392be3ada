extension VirtualPhone {
  /// What the phone does when a host asks it to restart.
  func restart() { app.phoneRebooted() }
  /// What it does when a host asks it to switch itself off.
  func powerOff() { app.phoneRebooted() }
}
