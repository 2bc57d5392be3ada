import Glibc
import Transport

/// Whether a client that has finished sending still waits for the answer.
enum ClientPresence: Equatable { case present, gone, unknown }

/// Tells a client that has closed from one that has only finished sending. On the connection both look the same; the
/// kernel knows whether the client's own socket still belongs to a process of this machine.
///
/// - Source: sock_diag(7); an orphaned socket has inode 0. Seen with Linux 6.18.
final class ClientEyes {
  private static let family: Int32 = 16
  private static let sockDiag: Int32 = 4
  private static let byFamily: UInt16 = 20
  private static let errorMessage: UInt16 = 2
  private static let headerSize = 16
  private static let inodeOffset = headerSize + 68
  private let fd: Int32

  init() { fd = socket(Self.family, Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue), Self.sockDiag) }

  deinit { if fd >= 0 { close(fd) } }

  /// - Parameter client: this side of the client's TCP connection.
  func look(_ client: Socket) -> ClientPresence {
    guard fd >= 0, let request = Self.request(client), send(fd, request, request.count, 0) == request.count
    else { return .unknown }
    var reply = [UInt8](repeating: 0, count: 1024)
    // The kernel answers before send returns.
    let count = recv(fd, &reply, reply.count, Int32(MSG_DONTWAIT))
    guard count >= Self.headerSize else { return .unknown }
    let type = UInt16(reply[4]) | UInt16(reply[5]) << 8
    if type == Self.errorMessage || count < Self.inodeOffset + 4 { return .unknown }
    return reply[Self.inodeOffset..<Self.inodeOffset + 4].allSatisfy { $0 == 0 } ? .gone : .present
  }

  /// Asks for the one socket whose ends are ours, the other way round.
  private static func request(_ client: Socket) -> [UInt8]? {
    guard let near = name(client.fd, getpeername), let far = name(client.fd, getsockname), near.family == far.family
    else { return nil }
    let anyState = [UInt8](repeating: 0xFF, count: 4)
    let noCookie = [UInt8](repeating: 0xFF, count: 8)
    var body: [UInt8] = [UInt8(near.family), UInt8(IPPROTO_TCP), 0, 0] + anyState
    body += near.port + far.port + near.host + far.host + [0, 0, 0, 0] + noCookie
    return words(UInt32(headerSize + body.count), UInt32(byFamily) | 1 << 16, 1, 0) + body
  }

  private static func words(_ words: UInt32...) -> [UInt8] {
    words.flatMap { word in withUnsafeBytes(of: word) { Array($0) } }
  }

  private typealias Name = (family: Int32, port: [UInt8], host: [UInt8])

  private static func name(
    _ fd: Int32, _ ask: (Int32, UnsafeMutablePointer<sockaddr>?, UnsafeMutablePointer<socklen_t>?) -> Int32
  ) -> Name? {
    var storage = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let code = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(fd, $0, &size) }
    }
    guard code == 0 else { return nil }
    let family = Int32(storage.ss_family)
    return withUnsafeBytes(of: &storage) { bytes -> Name? in
      let port = Array(bytes[2..<4])
      switch family {
      case AF_INET: return (family, port, Array(bytes[4..<8]) + [UInt8](repeating: 0, count: 12))
      case AF_INET6: return (family, port, Array(bytes[8..<24]))
      default: return nil
      }
    }
  }
}
