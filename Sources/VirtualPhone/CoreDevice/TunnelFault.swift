/// Something that goes wrong with the next tunnels, because somebody asked for it.
struct TunnelFault: Equatable, Sendable {
  enum Kind: String, CaseIterable, Sendable {
    /// The connection ends.
    case drop
    /// The phone sleeps: it takes what comes and sends nothing.
    case sleep
    /// Bytes that begin no packet; in the handshake, a reply that is none.
    case garbage
    /// The handshake's reply lacks what it must have.
    case shape
    /// The handshake's reply claims 64 KiB and goes no further.
    case oversized
    /// Bytes one by one.
    case drip
    /// Packets for another phone's address, and from one.
    case foreign
  }

  /// When it begins.
  enum Moment: String, CaseIterable, Sendable {
    /// The host's request has come, and nothing is answered.
    case handshake
    /// Half of the reply is out.
    case reply
    /// The reply is out, and no packet yet.
    case after
    /// So many bytes of packets are out.
    case bytes
  }

  var kind: Kind
  var moment: Moment = .after
  /// Of the phone's packets, for `bytes`.
  var bytes = 0
  /// So many tunnels more; nil until it is taken away.
  var left: Int?
}

extension RemoteRules {
  /// The fault of the tunnel that is being opened, counted down.
  mutating func takeTunnelFault() -> TunnelFault? {
    guard let fault = tunnelFaults.first else { return nil }
    if let left = fault.left {
      tunnelFaults[0].left = left - 1
      if left <= 1 { tunnelFaults.removeFirst() }
    }
    return fault
  }
}
