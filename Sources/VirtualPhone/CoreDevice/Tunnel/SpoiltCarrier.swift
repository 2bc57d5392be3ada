import Transport
import Wire

/// A tunnel's connection on the phone's side: packets pass as they are, or as wrongly as somebody wishes.
final class SpoiltCarrier: TunnelCarrier {
  fileprivate struct State {
    /// What goes wrong now.
    var kind: TunnelFault.Kind?
    /// What begins once so many bytes are out.
    var due: TunnelFault?
    var sent = 0
    /// Bytes that go before anything else, at the next packet's beginning.
    var ahead: [UInt8] = []
    var isInsidePacket = false
    /// Writes of the host that were not one whole packet.
    var uneven = 0
  }

  fileprivate enum Step {
    case pass(Int)
    /// As if it had been sent.
    case swallow
    case drop
  }

  private let carrier: any TunnelCarrier
  private let stream: any ByteStream
  private let strangers: [UInt8]
  private let state: Guarded<State>

  /// - Parameters:
  ///   - carrier: the same as the stream.
  ///   - own: the phone's address in the tunnel.
  init(_ carrier: any TunnelCarrier, _ stream: any ByteStream, own: IPv6Address, host: IPv6Address, fault: TunnelFault?)
  {
    self.carrier = carrier
    self.stream = stream
    // One for an address that is not the host's, one from an address that is not the phone's.
    let other = IPv6Address([0xFD] + [UInt8](repeating: 0xBA, count: 14) + [2]) ?? own
    strangers = StrayPacket(from: own, to: other).bytes + StrayPacket(from: other, to: host).bytes
    state = Guarded(
      State(kind: fault?.moment == .after ? fault?.kind : nil, due: fault?.moment == .bytes ? fault : nil))
  }

  /// How many writes of the host were not one packet each, which real phones do not stand for long. Only TLS tells.
  var unevenWrites: Int { state.with { $0.uneven } }

  /// - Parameter kind: nil: all is well again.
  func begin(_ kind: TunnelFault.Kind?) {
    state.with { $0.kind = kind }
    if kind == .drop { stream.shutdown() }
  }

  var fd: Int32 { carrier.fd }

  /// Not passed on: record by record it can be told what the host wrote at a time.
  func readAhead() {}

  func readNow(into buffer: UnsafeMutableRawBufferPointer) throws(StreamError) -> Int? {
    _ = try sendAhead()
    var count = try carrier.readNow(into: buffer)
    if let count, count > 0, carrier is TLSStream, !Self.isOnePacket(buffer, count) { state.with { $0.uneven += 1 } }
    // Whoever sleeps takes what comes, and looks at nothing.
    while let some = count, some > 0, state.with({ $0.kind == .sleep }) { count = try carrier.readNow(into: buffer) }
    return count
  }

  func writeNow(_ bytes: ArraySlice<UInt8>) throws(StreamError) -> Int {
    let isStart = bytes.startIndex == 0
    let step = state.with { $0.step(bytes, isStart: isStart, strangers) }
    guard try sendAhead() else { return 0 }
    switch step {
    case .swallow: return bytes.count
    case .drop:
      stream.shutdown()
      return bytes.count
    case .pass(let most):
      let count = try carrier.writeNow(bytes.prefix(most))
      state.with {
        $0.sent += count
        $0.isInsidePacket = count < bytes.count
      }
      return count
    }
  }

  func close() { carrier.close() }

  private static func isOnePacket(_ bytes: UnsafeMutableRawBufferPointer, _ count: Int) -> Bool {
    guard let header = IPv6Header(UnsafeRawBufferPointer(rebasing: bytes[..<count])) else { return false }
    return count == IPv6Header.size + header.payloadSize
  }

  /// - Returns: whether all that goes first is out, or waits for the packet's end.
  private func sendAhead() throws(StreamError) -> Bool {
    let ahead = state.with { $0.isInsidePacket ? [] : $0.ahead }
    guard !ahead.isEmpty else { return true }
    let count = try carrier.writeNow(ahead[...])
    return state.with {
      $0.ahead.removeFirst(count)
      return $0.ahead.isEmpty
    }
  }
}

extension SpoiltCarrier.State {
  /// What becomes of these bytes of a packet.
  fileprivate mutating func step(_ bytes: ArraySlice<UInt8>, isStart: Bool, _ strangers: [UInt8]) -> SpoiltCarrier.Step
  {
    if let due {
      let left = due.bytes - sent
      if left > 0 { return .pass(min(left, bytes.count)) }
      kind = due.kind
      self.due = nil
    }
    switch kind {
    case nil: break
    case .sleep: return .swallow
    case .drop: return .drop
    case .garbage, .shape, .oversized:
      ahead = StrayPacket.garbage
      isInsidePacket = false
      kind = .sleep
      return .swallow
    case .drip: return .pass(1)
    case .foreign: if isStart { ahead = strangers }
    }
    return .pass(bytes.count)
  }
}
