import Transport

/// Writes that must reach the disk, made from async code: on a thread of their own, and waited for no longer than said.
public enum OnDisk {
  /// - Returns: the work's trouble; `slowDisk` when it goes on behind our back.
  public static func within(
    _ limit: Duration, _ work: @escaping @Sendable () -> HostTrouble?
  ) async -> HostTrouble? {
    let waiting = Waiting()
    return await withCheckedContinuation { continuation in
      waiting.begin(continuation)
      let timer = Task {
        do { try await SuspendingClock().sleep(for: limit) } catch { return }
        waiting.end(.slowDisk(limit: limit))
      }
      _ = Worker(name: "state") {
        waiting.end(work())
        timer.cancel()
      }
    }
  }

  /// The first end counts.
  private final class Waiting: Sendable {
    private let continuation = Guarded<CheckedContinuation<HostTrouble?, Never>?>(nil)

    func begin(_ continuation: CheckedContinuation<HostTrouble?, Never>) {
      self.continuation.with { $0 = continuation }
    }

    func end(_ trouble: HostTrouble?) {
      let waiting = continuation.with { continuation in
        defer { continuation = nil }
        return continuation
      }
      waiting?.resume(returning: trouble)
    }
  }
}
