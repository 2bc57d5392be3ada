import FoundationEssentials
import Transport
import Wire

/// What this host calls itself to the phones' service lists.
///
/// Phones remember it, and from iOS 27.2 on close all their services to a host that comes under another one. So it is
/// made of what the daemon calls this host, which outlasts reboots and is the same for every program.
enum HostIdentity {
  /// - Parameter buid: the daemon's own identifier of this host.
  static func uuid(of buid: String) -> UUID {
    let digest = Hex.decode(Digest.sha256(Array("fleetctl tunnel \(buid)".utf8)).prefix(32)) ?? []
    var raw: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    withUnsafeMutableBytes(of: &raw) { bytes in
      bytes.copyBytes(from: digest)
      // The form of identifiers that are made of other data (version 8).
      bytes[6] = bytes[6] & 0x0F | 0x80
      bytes[8] = bytes[8] & 0x3F | 0x80
    }
    return UUID(uuid: raw)
  }
}
