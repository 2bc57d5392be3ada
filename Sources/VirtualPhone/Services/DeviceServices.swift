/// The services that a virtual phone offers behind lockdown's StartService.
enum DeviceServices {
  static let all: [any DeviceService] = []
}
