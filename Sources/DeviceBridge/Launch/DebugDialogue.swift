import Wire

/// The gdb-remote dialogue with the phone's debugserver.
///
/// - Source: LLVM's debugserver; packet by packet in classic usbmux practice. libimobiledevice's own client loses a
///   late reply to the next question and spins on a broken packet, so only its connection is used.
final class DebugDialogue {
  private let channel: ServiceChannel
  private let udid: UDID
  private var decoder = GDBPacket.Decoder()
  /// Until both sides agree not to, each packet is acknowledged by one byte.
  private var acknowledges = true

  init(_ channel: ServiceChannel, _ udid: UDID) throws(PhoneError) {
    self.channel = channel
    self.udid = udid
    if try ask("QStartNoAckMode") == Self.ok { acknowledges = false }
  }

  static let ok = Array("OK".utf8)

  /// Sends a packet and gives the reply to it.
  func ask(_ payload: String) throws(PhoneError) -> [UInt8] {
    try channel.send(GDBPacket.encode(payload))
    while true {
      let byte = try channel.receive(1)
      let items: [GDBPacket.Item]
      do { items = try decoder.feed(byte) } catch { throw bad(error.sentence) }
      for item in items {
        switch item {
        case .packet(let reply):
          if acknowledges { try channel.send(Array("+".utf8)) }
          // What the app prints comes in between.
          if reply.first == UInt8(ascii: "O"), reply != Self.ok { continue }
          return reply
        case .corrupt: throw bad("a packet's sum is wrong")
        case .resend: throw bad("it asks for a packet again")
        case .acknowledge, .interrupt: continue
        }
      }
    }
  }

  /// The process has ended: `W` and its exit code, or `X` and the signal.
  static func isExit(_ reply: [UInt8]) -> Bool { reply.first == UInt8(ascii: "W") || reply.first == UInt8(ascii: "X") }

  static func isRefusal(_ reply: [UInt8]) -> Bool { reply.first == UInt8(ascii: "E") }

  private func bad(_ detail: String) -> PhoneError {
    .badReply(udid, step: "speaking with debugserver", detail: detail)
  }
}

extension DebugDialogue {
  /// The packet that starts an executable with its arguments; the first is the executable itself.
  static func start(_ arguments: [String]) -> String {
    "A"
      + arguments.enumerated().map { index, argument in
        let digits = Hex.encode(argument.utf8)
        return "\(digits.utf8.count),\(index),\(digits)"
      }.joined(separator: ",")
  }

  static func environment(_ name: String, _ value: String) -> String {
    "QEnvironmentHexEncoded:" + Hex.encode("\(name)=\(value)".utf8)
  }
}
