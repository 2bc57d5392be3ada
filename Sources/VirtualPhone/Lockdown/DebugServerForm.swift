/// Under which names a phone of iOS 16 or older starts its debugserver.
///
/// - Source: case H27, and libimobiledevice 1.3.0, which asks for the secure name first.
enum DebugServerForm: String, CaseIterable, Sendable {
  /// The secure name and the old one.
  case both
  /// The secure name; the old one is InvalidService.
  case secure
  /// The old name, which answers without SSL and is clear text from the first byte.
  case oldClear = "old-clear"
  /// The old name, as iOS 13 has it: a handshake, then clear text.
  case old

  private static let secureNames = Set(DebugServer.secure.names)
  private static let oldNames = Set(DebugServer.plain.names)

  func knows(_ name: String) -> Bool {
    switch self {
    case .both: true
    case .secure: !Self.oldNames.contains(name)
    case .oldClear, .old: !Self.secureNames.contains(name)
    }
  }

  /// Whether the service is started without TLS.
  func isClear(_ name: String) -> Bool { self == .oldClear && Self.oldNames.contains(name) }
}
