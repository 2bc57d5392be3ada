/// The services that a virtual phone offers behind lockdown's StartService.
enum DeviceServices {
  static let all: [any DeviceService] =
    developer + files + [
      AMFI(), CoreDeviceProxy(), DiagnosticsRelay(), Heartbeat(), ImageMounter(), InstallationProxy(), Misagent(),
      NotificationProxy.trusted,
      NotificationProxy.insecure, OSTraceRelay(), SpringBoardServices(), SyslogRelay(),
    ]

  /// Those that come with the developer image.
  private static let developer: [any DeviceService] = [
    DebugServer.secure, DebugServer.plain, Screenshotr(), SimulateLocation(),
  ]

  private static let files: [any DeviceService] = [CrashReportFiles(), CrashReportMover(), HouseArrest(), MediaFiles()]
}
