import Glibc

/// How many descriptors this process may have open.
enum DescriptorLimit {
  /// Raises the limit as far as the system lets an ordinary process: a fleet under test has thousands of connections,
  /// and the usual soft limit of 1,024 is there for programs that use `select`.
  ///
  /// - Returns: the limit from now on.
  @discardableResult
  static func raise() -> UInt {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
    guard limit.rlim_cur < limit.rlim_max else { return limit.rlim_cur }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return limit.rlim_cur
  }
}
