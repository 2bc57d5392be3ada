import Transport
import Wire

/// debugserver of iOS 16 and older: gdb's remote protocol, as far as starting, stopping and ending apps.
struct DebugServer: DeviceService {
  let names: [String]
  let needs: ServiceNeeds

  static let secure = DebugServer(
    names: ["com.apple.debugserver.DVTSecureSocketProxy"], needs: ServiceNeeds(developerImage: true, goneSince: 17))
  /// The old name: clear text once its TLS handshake is done.
  static let plain = DebugServer(
    names: ["com.apple.debugserver"],
    needs: ServiceNeeds(developerImage: true, goneSince: 17, clearAfterHandshake: true))

  func serve(_ connection: ServiceConnection) {
    let session = DebugSession(phone: connection.phone, outBox: OutBox(connection.stream))
    defer { session.end() }
    var decoder = GDBPacket.Decoder()
    while let bytes = try? connection.stream.read(max: 1 << 14, by: .never), !bytes.isEmpty,
      let items = try? decoder.feed(bytes)
    {
      for item in items where !session.take(item) { return }
    }
  }
}
