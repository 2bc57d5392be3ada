import CIMobileDevice
import Transport
import Wire

/// A connection to one of the phone's services, over TLS where the phone asks for it.
///
/// Its waits end at the call's deadline: the context holds its descriptor.
final class ServiceChannel {
  /// No service of ours thinks longer before its next byte, unless it is said.
  private static let replyTime = Duration.seconds(30)

  /// Longest message that is taken from the service, in bytes.
  var messageLimit = 16 << 20
  /// How long the service may think before its next byte; nil: until the call's deadline.
  var patience: Duration? = ServiceChannel.replyTime

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
    let milliseconds = waitingMilliseconds
    let bytes = [UInt8](unsafeUninitializedCapacity: max) { buffer, count in
      var got: UInt32 = 0
      buffer.withMemoryRebound(to: CChar.self) {
        code = idevice_connection_receive_timeout(raw, $0.baseAddress, UInt32(max), &got, milliseconds)
      }
      count = code == IDEVICE_E_SUCCESS ? Int(got) : 0
    }
    if !bytes.isEmpty { return bytes }
    throw failure(code)
  }

  /// Up to the next byte of that kind, which is among them; at most `limit` bytes. For text that has no frames.
  ///
  /// - Throws: what ended the wait; bytes that had come are lost then, and so is the connection.
  func receive(upTo end: (UInt8) -> Bool, limit: Int) throws(PhoneError) -> [UInt8] {
    // In clear what has come can be had at once; over TLS the library waits for all that is asked for.
    if !secure { return try part(limit) }
    var bytes: [UInt8] = []
    var byte: CChar = 0
    while bytes.count < limit {
      var got: UInt32 = 0
      let code = idevice_connection_receive_timeout(raw, &byte, 1, &got, waitingMilliseconds)
      guard code == IDEVICE_E_SUCCESS, got == 1 else { throw failure(code) }
      bytes.append(UInt8(bitPattern: byte))
      if end(UInt8(bitPattern: byte)) { break }
    }
    return bytes
  }

  /// 0 lets the library wait without limit: what cuts the call ends the wait then.
  private var waitingMilliseconds: UInt32 {
    let deadline = patience.map { min(context.deadline, .after($0)) } ?? context.deadline
    return deadline == .never ? 0 : UInt32(clamping: deadline.remaining.milliseconds + 1)
  }

  private func failure(_ code: idevice_error_t) -> PhoneError {
    if let ended = context.ended(at: step) { return ended }
    let limit = patience.map { min(context.limit, $0) } ?? context.limit
    return code == IDEVICE_E_TIMEOUT ? .silent(context.udid, step: step, limit: limit) : lost
  }

  // MARK: - Property lists

  func send(_ plist: Plist, binary: Bool = false) throws(PhoneError) {
    try send(ServiceFrame.bytes(binary ? plist.binary : plist.xml))
  }

  func receivePlist() throws(PhoneError) -> Plist {
    let header = try receive(ServiceFrame.headerSize)
    let size: Int
    do { size = try ServiceFrame.payloadSize(header, limit: messageLimit) } catch { throw bad(error.sentence) }
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
