import Transport
import Wire

/// com.apple.coredevice.deviceinfo: the lock, the phone and its screen.
struct DeviceFeatures: FeatureService {
  let name = CoreDeviceService.deviceInfo

  func features(on phone: VirtualPhone) -> [CoreDeviceFeature] { [.lockState, .deviceInfo, .displayInfo] }

  func answer(_ call: CoreDeviceRequest, on phone: VirtualPhone) throws(ShapeError) -> FeatureAnswer {
    switch call.known {
    case .lockState: return lockState(phone)
    case .deviceInfo: return .output(info(phone))
    case .displayInfo: return .output(displays(phone))
    case .launchApplication, .listProcesses, .streamProcesses, .sendSignal, .listApps, .streamApps,
      .captureScreenshot, nil:
      return .failure(.unsupported(call.feature))
    }
  }

  private func lockState(_ phone: VirtualPhone) -> FeatureAnswer {
    guard phone.tellsLock else { return .failure(.notImplemented("com.apple.coredevice.action.getlockstate")) }
    let (locked, unlocked) = phone.state.with { ($0.locked, $0.unlockedSinceBoot) }
    return .output(LockStateOutput(passcodeRequired: locked, unlockedSinceBoot: unlocked).body)
  }

  private func info(_ phone: VirtualPhone) -> XPCValue {
    let state = phone.state.with { $0 }
    return [
      "name": .string(state.name), "udid": .string(phone.udid.description), "ecid": .uint64(phone.identity.ecid),
      "serialNumber": .string(phone.identity.serialNumber), "productType": .string(phone.preset.productType),
      "hardwareModel": .string(phone.preset.hardwareModel), "osVersionNumber": .string(phone.preset.ios),
      "osBuildUpdate": .string(phone.preset.build), "cpuArchitecture": .string(phone.preset.architecture),
      "developerModeStatus": .string(state.developerMode ? "enabled" : "disabled"),
      "ddiServicesAvailable": .bool(state.developerImageMounted), "bootState": "booted", "deviceClass": "iPhone",
    ]
  }

  private func displays(_ phone: VirtualPhone) -> XPCValue {
    let pixels = phone.preset.screenPixels
    return [
      "displays": [
        [
          "displayUniqueID": .string(PhoneScreen.identifier), "name": "LCD", "primary": true, "external": false,
          "nativeSize": [.int64(Int64(pixels.width)), .int64(Int64(pixels.height))], "nativeOrientation": "rot0",
          "currentMode": [
            "size": [.int64(Int64(pixels.width)), .int64(Int64(pixels.height))], "refreshRate": .double(60),
            "hdrMode": "SDR",
          ],
        ]
      ],
      // The same whether the phone is locked or not.
      "backlightState": "activeOn",
    ]
  }
}

extension PhoneScreen {
  /// The phone's own screen, as CoreDevice names it.
  static let identifier = "1"
}
