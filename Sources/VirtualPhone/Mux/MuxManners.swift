/// How the mux behaves where the protocol leaves it open.
public enum MuxManners: String, CaseIterable, Sendable {
  /// Lists a phone as soon as it is plugged in, and answers whatever is asked.
  case plain
  /// As usbmuxd 1.1.1 does: it talks to a phone before it lists it, and falls silent where the daemon does.
  ///
  /// - Source: seen with the unmodified usbmuxd 1.1.1; docs/wire.md.
  case real

  /// Connections that wait to be accepted.
  var backlog: Int32 {
    switch self {
    case .plain: 256
    case .real: 5
    }
  }

  /// From plugging to being listed, in phone time.
  static let preflight = Duration.milliseconds(170)
  /// A daemon that starts meets the phones of its bus one after another, so far apart in phone time.
  static let discovery = Duration.milliseconds(20)

  func links(of listing: MuxListing) -> [MuxEntry.Link] {
    switch self {
    case .plain: listing.links
    // The daemon of Linux knows cables only.
    case .real: listing.links.filter { $0 != .network }
    }
  }
}
