import Transport

/// Writes that must reach the disk, made from async code: on a thread of their own, and waited for no longer than said.
public enum OnDisk {
  /// - Returns: the work's trouble; `slowDisk` when it goes on behind our back.
  public static func within(
    _ limit: Duration, _ work: @escaping @Sendable () -> HostTrouble?
  ) async -> HostTrouble? {
    let end = OneShot<HostTrouble?>()
    _ = Worker(name: "state") { end.give(work()) }
    return await end.value(within: limit, else: .slowDisk(limit: limit))
  }
}
