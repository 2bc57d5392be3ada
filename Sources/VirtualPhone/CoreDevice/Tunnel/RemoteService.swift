import Transport
import Wire

/// One entry of the list of services that a phone gives its tunnels.
struct RemoteService: Sendable {
  enum Form: Sendable {
    /// Calls and replies of CoreDevice.
    case features(any FeatureService)
    /// A service that lockdown starts as well, behind a greeting and without TLS.
    case shim(any DeviceService, name: String)
    case lockdown
  }

  let name: String
  let form: Form

  /// Only with the developer image mounted, and developer mode on.
  var needsImage: Bool {
    switch form {
    case .features: true
    case .shim, .lockdown: false
    }
  }

  static let all: [RemoteService] =
    features + shims + [RemoteService(name: CoreDeviceService.lockdown.rawValue, form: .lockdown)]

  private static let features = ([AppFeatures(), DeviceFeatures(), ScreenFeatures()] as [any FeatureService]).map {
    RemoteService(name: $0.name.rawValue, form: .features($0))
  }

  /// What lockdown starts for a trusted host, the developer services aside, which are others here.
  private static let shims = DeviceServices.all.filter {
    $0.needs.session && !$0.needs.developerImage && !($0 is CoreDeviceProxy)
  }.flatMap { service in
    service.names.map { RemoteService(name: "\($0).shim.remote", form: .shim(service, name: $0)) }
  }

  /// As the phone's list has it.
  func entry(port: UInt16, on phone: VirtualPhone) -> RSDService {
    switch form {
    case .features(let service):
      RSDService(
        port: port, entitlement: "com.apple.private.CoreDevice.canInvokeFeatures", usesRemoteXPC: true, version: 1,
        features: service.features(on: phone).map(\.identifier))
    case .shim, .lockdown: RSDService(port: port, entitlement: "com.apple.mobile.lockdown.remote.trusted")
    }
  }

  /// Whether the phone has it now.
  func isOffered(by phone: VirtualPhone) -> Bool {
    if phone.rules.with({ $0.remote.missing.contains(name) }) { return false }
    // Reported absent from 27 on.
    if name == CoreDeviceService.deviceInfo.rawValue, phone.preset.major >= 27 { return false }
    return !needsImage || phone.state.with { $0.developerImageMounted && $0.developerMode }
  }
}
