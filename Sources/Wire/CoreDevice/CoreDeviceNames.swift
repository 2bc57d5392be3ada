/// The services of iOS 17 and later that are spoken to here, by the names that RSD lists.
public enum CoreDeviceService: String, CaseIterable, Sendable {
  /// Launching, listing and signalling; listed only while the developer image is mounted.
  case apps = "com.apple.coredevice.appservice"
  case deviceInfo = "com.apple.coredevice.deviceinfo"
  case screenCapture = "com.apple.coredevice.screencaptureservice"
  case standardIO = "com.apple.coredevice.openstdiosocket"
  case lockdown = "com.apple.mobile.lockdown.remote.trusted"
  case untrustedLockdown = "com.apple.mobile.lockdown.remote.untrusted"
  case imageMounter = "com.apple.mobile.mobile_image_mounter.shim.remote"
  case notifications = "com.apple.mobile.notification_proxy.shim.remote"
  case instruments = "com.apple.instruments.dtservicehub"

  /// Lockdown's service that carries the tunnel.
  public static let tunnel = "com.apple.internal.devicecompute.CoreDeviceProxy"
}

/// What CoreDevice services can be asked for.
public enum CoreDeviceFeature: String, CaseIterable, Sendable {
  case launchApplication = "launchapplication"
  case listProcesses = "listprocesses"
  /// The list in pieces over the side channel; newer developer images may never answer the plain one.
  case streamProcesses = "streamprocesslist"
  case sendSignal = "sendsignaltoprocess"
  case listApps = "listapps"
  case streamApps = "streamapplist"
  case lockState = "getlockstate"
  case deviceInfo = "getdeviceinfo"
  case displayInfo = "getdisplayinfo"
  case captureScreenshot = "capturescreenshot"

  public var identifier: String { "com.apple.coredevice.feature.\(rawValue)" }

  /// - Returns: nil for a feature that is not known here.
  public init?(identifier: String) {
    guard identifier.hasPrefix("com.apple.coredevice.feature.") else { return nil }
    self.init(rawValue: String(identifier.dropFirst("com.apple.coredevice.feature.".count)))
  }

  public var service: CoreDeviceService {
    switch self {
    case .launchApplication, .listProcesses, .streamProcesses, .sendSignal, .listApps, .streamApps: .apps
    case .lockState, .deviceInfo, .displayInfo: .deviceInfo
    case .captureScreenshot: .screenCapture
    }
  }

  /// The action that newer features are called by, beside their own identifier.
  public var action: String? {
    switch self {
    case .captureScreenshot: "com.apple.coredevice.action.capturescreenshot"
    case .launchApplication, .listProcesses, .streamProcesses, .sendSignal, .listApps, .streamApps, .lockState,
      .deviceInfo, .displayInfo:
      nil
    }
  }
}
