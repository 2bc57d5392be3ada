/// The services that a virtual phone offers behind lockdown's StartService.
enum DeviceServices {
  static let all: [any DeviceService] = [
    DebugServer.secure, DebugServer.plain, DiagnosticsRelay(), ImageMounter(), InstallationProxy(),
    NotificationProxy.trusted, NotificationProxy.insecure, OSTraceRelay(),
  ]
}
