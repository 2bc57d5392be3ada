import Glibc

/// How many descriptors this process may have open.
public struct DescriptorLimit: Sendable {
  /// For everything that is no client's connection.
  private static let ownUse = 64
  /// A client's socket, the phone's, and a pipe each way.
  private static let perConnection = 6

  let descriptors: Int

  public static var current: DescriptorLimit {
    var limit = rlimit()
    guard getrlimit(kind, &limit) == 0 else { return DescriptorLimit(descriptors: 1024) }
    return DescriptorLimit(descriptors: Int(clamping: limit.rlim_cur))
  }

  /// Raises it to what the system grants without asking. Not for processes that use select(2) on high numbers.
  public static func raise() {
    var limit = rlimit()
    guard getrlimit(kind, &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(kind, &limit)
  }

  /// How many forwarded connections have room in it.
  var connections: Int { max(1, (descriptors - Self.ownUse) / Self.perConnection) }

  private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
}
