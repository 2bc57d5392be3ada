import CIMobileDevice
import Transport
import Wire

/// A connection to one of the phone's services, over TLS where the phone asks for it.
///
/// Its waits end at the call's deadline: the context holds its descriptor.
final class ServiceChannel {
  /// Longest message that is taken from a service.
  static let messageLimit = 16 << 20
  /// No service of ours thinks longer before its next byte.
  static let replyTime = Duration.seconds(30)

  private let device: DeviceHandle
  private let raw: idevice_connection_t
  private let context: LaneContext
  private let name: String
  private let secure: Bool

  /// - Parameter clearAfterHandshake: the service speaks plainly once TLS has shown who is there.
  init(_ service: StartedService, _ context: LaneContext, clearAfterHandshake: Bool = false) throws(PhoneError) {
    context.forgetFailures()
    var raw: idevice_connection_t?
    guard idevice_connect(service.device.raw, service.port, &raw) == IDEVICE_E_SUCCESS, let raw else {
      let step = "connecting to \(service.name)"
      throw context.ended(at: step) ?? context.connectFailure ?? .lost(context.udid, step: step)
    }
    device = service.device
    self.raw = raw
    self.context = context
    name = service.name
    secure = service.secure && !clearAfterHandshake
    guard service.secure else { return }
    guard idevice_connection_enable_ssl(raw) == IDEVICE_E_SUCCESS else {
      throw context.ended(at: "TLS with \(service.name)")
        ?? .tls(context.udid, detail: "the handshake with \(service.name) broke")
    }
    if clearAfterHandshake { idevice_connection_disable_bypass_ssl(raw, 1) }
  }

  deinit { idevice_disconnect(raw) }

  func send(_ bytes: [UInt8]) throws(PhoneError) {
    var sent = 0
    while sent < bytes.count {
      var count: UInt32 = 0
      let code = bytes.withUnsafeBytes {
        idevice_connection_send(
          raw, $0.bindMemory(to: CChar.self).baseAddress.map { $0 + sent }, UInt32($0.count - sent), &count)
      }
      guard code == IDEVICE_E_SUCCESS, count > 0 else { throw context.ended(at: step) ?? lost }
      sent += Int(count)
    }
  }

  /// Exactly `count` bytes.
  func receive(_ count: Int) throws(PhoneError) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      bytes += try part(min(count - bytes.count, 1 << 16))
    }
    return bytes
  }

  /// Some bytes, at most `max`; over TLS exactly that many, as the library has it.
  private func part(_ max: Int) throws(PhoneError) -> [UInt8] {
    var code = IDEVICE_E_SUCCESS
    let wait = min(context.deadline, .after(Self.replyTime)).remaining
    let milliseconds = UInt32(clamping: wait.milliseconds + 1)
    let bytes = [UInt8](unsafeUninitializedCapacity: max) { buffer, count in
      var got: UInt32 = 0
      buffer.withMemoryRebound(to: CChar.self) {
        code = idevice_connection_receive_timeout(raw, $0.baseAddress, UInt32(max), &got, milliseconds)
      }
      count = code == IDEVICE_E_SUCCESS ? Int(got) : 0
    }
    if !bytes.isEmpty { return bytes }
    if let ended = context.ended(at: step) { throw ended }
    throw code == IDEVICE_E_TIMEOUT
      ? .silent(context.udid, step: step, limit: min(context.limit, Self.replyTime)) : lost
  }

  // MARK: - Property lists

  func send(_ plist: Plist) throws(PhoneError) { try send(ServiceFrame.bytes(plist.xml)) }

  func receivePlist() throws(PhoneError) -> Plist {
    let header = try receive(ServiceFrame.headerSize)
    let size: Int
    do { size = try ServiceFrame.payloadSize(header, limit: Self.messageLimit) } catch { throw bad(error.sentence) }
    let payload = try receive(size)
    do { return try Plist(parsing: payload) } catch { throw bad(error.sentence) }
  }

  private var lost: PhoneError { .lost(context.udid, step: step) }
  private var step: String { "speaking with \(name)" }

  private func bad(_ detail: String) -> PhoneError {
    .badReply(context.udid, step: step, detail: detail)
  }
}

extension Duration {
  /// Whole milliseconds, rounded down.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
