import Transport
import Wire

/// How an answer, or a push, leaves a CoreDevice service: as it is, or as wrongly as somebody wishes.
struct SpoiltReply: Sendable {
  private static let patience = Duration.seconds(30)

  private let connection: RemoteXPCConnection
  private let phone: VirtualPhone
  private let fault: CallFault?

  init(_ connection: RemoteXPCConnection, _ phone: VirtualPhone, _ fault: CallFault?) {
    self.connection = connection
    self.phone = phone
    self.fault = fault
  }

  func send(_ body: XPCValue, to request: XPCMessage) throws(RemoteXPCError) {
    guard let fault else { return try connection.reply(body, to: request, by: .after(Self.patience)) }
    try spoil(XPCMessage(.reply, id: request.id, body: body), on: .replies, fault)
  }

  func push(_ body: XPCValue) throws(RemoteXPCError) {
    guard let fault else { return try connection.send(body, by: .after(Self.patience)) }
    try spoil(XPCMessage(.push, id: 2, body: body), on: .root, fault)
  }

  // MARK: - Faults

  private func spoil(
    _ message: XPCMessage, on way: RemoteXPCConnection.Way, _ fault: CallFault
  ) throws(RemoteXPCError) {
    phone.record("coredevice-fault", ["call": .string(fault.call), "kind": .string(fault.kind.rawValue)])
    var message = message
    switch fault.kind {
    case .silent, .mute: return
    case .close: throw .stream(.closed)
    case .slow:
      pause()
      try put(message.bytes, way)
    case .half:
      try put(Array(message.bytes.prefix(message.bytes.count / 2)), way)
      throw .stream(.closed)
    case .stall: try put(Array(message.bytes.prefix(message.bytes.count / 2)), way)
    case .drip:
      for byte in message.bytes {
        try put([byte], way)
        if fault.pause > .zero { pause() }
      }
    case .shape:
      message.body = ["CoreDevice.nothing": [:], "MessageType": "Handshake"]
      try put(message.bytes, way)
    case .mistyped:
      message.body = [
        "CoreDevice.output": "text", "MessageType": "Handshake", "Properties": [], "Services": "none", "UUID": "none",
      ]
      try put(message.bytes, way)
    case .deep: try put(Self.deep(message, levels: fault.levels), way)
    case .oversized:
      var bytes = message.bytes
      bytes.replaceSubrange(8..<16, with: [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0])
      try put(bytes, way)
    case .garbage: try put(StrayPacket.garbage, way)
    case .stranger:
      message.id &+= 1000
      try put(message.bytes, way)
    case .error:
      message.body =
        CoreDeviceReply.error(
          ErrorChain(domain: fault.domain, code: fault.code, description: fault.text)
        ).body
      try put(message.bytes, way)
    }
  }

  private func put(_ bytes: [UInt8], _ way: RemoteXPCConnection.Way) throws(RemoteXPCError) {
    try connection.put(bytes, on: way, by: .after(Self.patience))
  }

  private func pause() {
    guard let fault else { return }
    _ = Latch().wait(until: phone.clock.deadline(after: fault.pause))
  }

  /// The message with an output of lists within lists. Written by hand: a value so deep could not be freed.
  private static func deep(_ message: XPCMessage, levels: Int) -> [UInt8] {
    func little(_ number: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    // Twelve bytes a level: the type, the length of what follows, and one entry; the innermost has none.
    var lists: [UInt8] = []
    for level in 1...max(1, levels) {
      let inside = 12 * (max(1, levels) - level)
      lists += little(0xE000) + little(4 + inside) + little(inside == 0 ? 0 : 1)
    }
    let key = Array("CoreDevice.output".utf8) + [0, 0, 0]
    let dictionary = little(0xF000) + little(4 + key.count + lists.count) + little(1) + key + lists
    var bytes = XPCMessage(message.flags, id: message.id, body: .null).bytes.dropLast(4) + dictionary
    bytes.replaceSubrange(8..<12, with: little(8 + dictionary.count))
    return Array(bytes)
  }
}
