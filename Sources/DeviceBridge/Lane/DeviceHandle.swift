import CIMobileDevice

/// The C library's object for the phone; connections keep theirs alive.
///
/// Lives and dies on the lane's thread, as everything that holds it.
final class DeviceHandle {
  let raw: idevice_t

  init?(_ context: LaneContext) {
    guard Interposition.isInForce else { return nil }
    var raw: idevice_t?
    guard idevice_new_with_options(&raw, "\(context.udid)", IDEVICE_LOOKUP_USBMUX) == IDEVICE_E_SUCCESS, let raw
    else { return nil }
    self.raw = raw
  }

  deinit { idevice_free(raw) }
}

/// A connection to lockdownd, with a session or without one.
final class LockdownClient {
  let device: DeviceHandle
  let raw: lockdownd_client_t
  private let context: LaneContext
  private let descriptor: Int32

  private init(_ device: DeviceHandle, _ raw: lockdownd_client_t, _ context: LaneContext) {
    self.device = device
    self.raw = raw
    self.context = context
    descriptor = context.lastDescriptor
  }

  deinit {
    // The library says goodbye before it frees a session, and would wait half a minute for the answer.
    context.shut(descriptor)
    lockdownd_client_free(raw)
  }

  private typealias Opening =
    (idevice_t?, UnsafeMutablePointer<lockdownd_client_t?>?, UnsafePointer<CChar>?) -> lockdownd_error_t

  /// With a trusted session, over TLS. The context must hold a pair record, or the library would pair.
  static func session(_ device: DeviceHandle, _ context: LaneContext) -> Result<LockdownClient, LockdownCode> {
    open(device, context, lockdownd_client_new_with_handshake)
  }

  /// Without a session: the phone tells some values to anybody.
  static func stranger(_ device: DeviceHandle, _ context: LaneContext) -> Result<LockdownClient, LockdownCode> {
    open(device, context, lockdownd_client_new)
  }

  private static func open(
    _ device: DeviceHandle, _ context: LaneContext, _ opening: Opening
  ) -> Result<LockdownClient, LockdownCode> {
    var raw: lockdownd_client_t?
    let code = opening(device.raw, &raw, "fleetctl")
    guard code == LOCKDOWN_E_SUCCESS, let raw else { return .failure(LockdownCode(raw: code)) }
    return .success(LockdownClient(device, raw, context))
  }
}

/// The C library's number for what went wrong with lockdownd.
struct LockdownCode: Error {
  let raw: lockdownd_error_t
}
