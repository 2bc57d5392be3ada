import Glibc

/// OpenSSL writes to sockets whose reader has gone. The executable ignores the signal for it; tests must too.
enum QuietPipes {
  static let areSet: Bool = {
    signal(SIGPIPE, SIG_IGN)
    return true
  }()
}
