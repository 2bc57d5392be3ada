import Transport

/// Where a connection to the phone breaks off, because somebody asked for it.
struct PortCut: Equatable, Sendable {
  enum Direction: String, CaseIterable, Sendable {
    /// Bytes of the phone.
    case out
    /// Bytes of the host.
    case into = "in"
  }

  enum Kind: String, CaseIterable, Sendable {
    /// Both ends see the connection end.
    case close
    /// As `close`, with a reset where the mux listens on TCP.
    case reset
    /// No byte passes any more, either way, and the connection stays.
    case stall
  }

  /// So many bytes of the direction pass.
  var after: Int
  var direction: Direction
  var kind: Kind
  /// The port's number or its service's name; nil: every connection to the phone.
  var place: String?
  /// So many connections more; nil until it is taken away.
  var left: Int?

  /// The phone's end is gone before anything was said.
  var isImmediate: Bool { after == 0 && kind != .stall }
}

/// How long the phone takes to answer the mux's attempt to connect.
struct ConnectDelay: Equatable, Sendable {
  /// Phone time; nil: it never answers.
  var time: Duration?
  /// nil: every port.
  var port: UInt16?
  var left: Int?
}

extension PhoneState {
  /// The cut that is meant for this connection, counted down.
  mutating func takeCut(_ port: UInt16, service: String?) -> PortCut? {
    guard
      let index = cuts.firstIndex(where: { $0.place == nil || $0.place == String(port) || $0.place == service })
    else { return nil }
    let cut = cuts[index]
    if let left = cut.left {
      cuts[index].left = left - 1
      if left <= 1 { cuts.remove(at: index) }
    }
    return cut
  }

  /// The delay that is meant for this Connect, counted down.
  mutating func takeConnectDelay(_ port: UInt16) -> ConnectDelay? {
    guard let delay = connectDelay, delay.port == nil || delay.port == port else { return nil }
    if let left = delay.left {
      connectDelay = left > 1 ? ConnectDelay(time: delay.time, port: delay.port, left: left - 1) : nil
    }
    return delay
  }
}
