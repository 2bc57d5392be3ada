import Transport
import Wire

/// The kiosk app of one virtual phone: its installed build, its process, its camera and its door.
public final class KioskApp: Sendable {
  public struct Settings: Sendable {
    public var bundle = "com.example.kiosk"
    public var doorPort: UInt16 = 8127
    /// The bearer token that the door asks for; nil asks for none.
    public var token: String?

    public init(bundle: String = "com.example.kiosk", doorPort: UInt16 = 8127, token: String? = nil) {
      self.bundle = bundle
      self.doorPort = doorPort
      self.token = token
    }
  }

  let settings: Settings
  let surroundings: AppSurroundings

  init(_ settings: Settings, in surroundings: AppSurroundings) {
    self.settings = settings
    self.surroundings = surroundings
  }

  /// Brings the app to the front, starting it where it does not run.
  @discardableResult
  public func launch(arguments: [String] = [], environment: [String: String] = [:]) -> LaunchOutcome {
    .launched(pid: 0)
  }
  public func kill() {}
  public func suspend() {}
  public func resume() {}
  public func bringToFront() {}
  public func sendToBackground() {}

  /// Process ids and executable names of what runs, as os_trace_relay lists them.
  public var processes: [Int: String] { [:] }

  /// The phone has asked for its passcode from now on; `state` already says so.
  public func phoneLocked() {}
  public func phoneUnlocked() {}
  /// Everything that ran is gone; the app is not started again by itself.
  public func phoneRebooted() {}
  /// Ends every connection, thread and timer of the app for good.
  public func shutDown() {}
}

/// What came of asking the phone to start an app.
public enum LaunchOutcome: Equatable, Sendable {
  case launched(pid: Int)
  /// The phone's own words, such as `Locked`.
  case refused(String)
}
