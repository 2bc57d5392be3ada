import Glibc
import Transport
import Wire

/// Why the page is not served.
public enum PageTrouble: Error, Equatable, Sendable {
  /// `supervise.listen` is no numeric address and port.
  case address(String)
  /// Others than this machine would reach it, and no token guards it.
  case noToken(SocketAddress)
  /// The token's file can't be used.
  case token(Problem)
  /// It can't listen there; the number is an errno.
  case listen(SocketAddress, code: Int32)
  /// The library did not start.
  case server(SocketAddress)

  /// What happened, the likely cause, what to type next.
  public var sentence: String {
    switch self {
    case .address(let text):
      """
      The page can't listen at '\(text.oneLine())'. \
      supervise.listen takes a numeric address of this machine or localhost, and a port; names are not looked up. \
      Write it as 127.0.0.1:8087 or [::1]:8087, then: fleetctl supervise
      """
    case .noToken(let address):
      """
      The page would listen at \(address), where others than this machine reach it, and no token guards it. \
      supervise.token-file is not set. \
      Make one and name it in fleet.yaml: (umask 077; head -c 24 /dev/urandom | base64 > /etc/fleetctl/page-token)
      """
    case .token(let problem):
      """
      \(problem.description). \
      It should hold the page's token: one line of visible ASCII that this user may read. \
      Make it anew: (umask 077; head -c 24 /dev/urandom | base64 > \(problem.file))
      """
    case .listen(let address, EADDRINUSE):
      """
      The page can't listen at \(address): \(Errno.text(EADDRINUSE)). \
      Another supervisor, or another program, listens there. \
      See which: ss -ltnxp | grep -F '\(Self.end(of: address))'
      """
    case .listen(let address, EADDRNOTAVAIL):
      """
      The page can't listen at \(address): \(Errno.text(EADDRNOTAVAIL)). \
      supervise.listen names an address that this machine has not, or not yet. \
      See those it has: ip -brief address
      """
    case .listen(let address, let code):
      """
      The page can't listen at \(address): \(Errno.text(code)). \
      This user may not listen there, or the system has run out of something. \
      Look at supervise.listen in: fleetctl config show
      """
    case .server(let address):
      """
      The page's server did not start at \(address). \
      The system has run out of threads, memory or descriptors. \
      See its limits: ulimit -a
      """
    }
  }

  public var exitCode: ExitCode {
    switch self {
    case .address, .noToken, .token: .usage
    case .listen, .server: .harness
    }
  }

  private static func end(of address: SocketAddress) -> String {
    switch address {
    case .unix(let path): path
    case .tcp(_, let port): ":\(port)"
    }
  }
}
