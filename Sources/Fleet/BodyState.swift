/// A state that a scenario can arrange or need, and that fleet.yaml can name a means for.
public enum BodyState: String, Sendable, CaseIterable {
  case unlocked, locked
  case inFront = "in-front"
  case inBackground = "in-background"
  case notRunning = "not-running"
  /// The process is stopped: the door accepts and never answers.
  case suspended
  case listenerDead = "listener-dead"
  case cameraBusy = "camera-busy"
  case cameraStuck = "camera-stuck"
  case cameraGranted = "camera-granted"
  case cameraDenied = "camera-denied"
  case appInstalled = "app-installed"
  case rebooted
  case beforeFirstUnlock = "before-first-unlock"
  case tokenConfigured = "token-configured"
}
