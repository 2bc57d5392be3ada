import Glibc
import Transport

/// Why a forward does not begin.
public enum ForwardError: Error, Equatable, Sendable {
  /// Somebody else listens on the local port.
  case taken(SocketAddress, holder: PortHolder?)
  /// The port is below 1024, and this user may not have it.
  case forbidden(SocketAddress)
  /// No interface of this machine has the address.
  case noSuchAddress(SocketAddress)
  /// This host could not do its part; the number is an errno.
  case host(code: Int32)

  /// - Parameter code: bind's or listen's errno.
  init(_ code: Int32, at address: SocketAddress) {
    switch code {
    case EADDRINUSE: self = .taken(address, holder: PortHolder(of: address))
    case EACCES, EPERM: self = .forbidden(address)
    case EADDRNOTAVAIL: self = .noSuchAddress(address)
    default: self = .host(code: code)
    }
  }

  init(_ error: StreamError) {
    if case .system(let code) = error { self = .host(code: code) } else { self = .host(code: EIO) }
  }

  /// What happened and the likely cause. The next command depends on the ports that were asked for.
  public var sentence: String {
    switch self {
    case .taken(let address, let holder?): "Local port \(address) is taken: \(holder) listens there."
    case .taken(let address, nil):
      "Local port \(address) is taken. Another process has it; which one can't be read by this user."
    case .forbidden(let address):
      "Local port \(address) may not be opened by this user. Ports below 1024 are the system's."
    case .noSuchAddress(let address):
      "There is nothing to listen on at \(address). No interface of this machine has that address."
    case .host(let code):
      "This machine could not open the local ports: \(Errno.text(code)). It is likely out of descriptors or memory."
    }
  }
}
