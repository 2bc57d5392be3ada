import Glibc

/// How many descriptors this process may have open.
public enum DescriptorLimit {
  /// The limit as it stands.
  public static var current: Int {
    var limit = rlimit()
    return getrlimit(kind, &limit) == 0 ? Int(clamping: limit.rlim_cur) : 1024
  }

  /// Raises the limit as far as the system lets an ordinary process. The usual soft limit of 1,024 is there for programs
  /// that use `select`; what still uses it must not run afterwards.
  public static func raise() {
    var limit = rlimit()
    guard getrlimit(kind, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(kind, &limit)
  }

  private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
