import Transport

/// The phone's notifications (names without payload), as notification_proxy relays them.
public final class NotificationBoard: Sendable {
  /// Ends an observation; also ends with its last reference.
  final class Observation: Sendable {
    fileprivate let id: Int
    private let board: NotificationBoard

    fileprivate init(id: Int, board: NotificationBoard) {
      self.id = id
      self.board = board
    }

    deinit { end() }

    func end() { board.remove(id) }
  }

  private struct Observers {
    var last = 0
    var handlers: [Int: @Sendable (String) -> Void] = [:]
  }

  private let observers = Guarded(Observers())

  public init() {}

  var observerCount: Int { observers.with { $0.handlers.count } }

  /// Tells every observer, on the caller's thread.
  ///
  /// - Parameter name: such as `com.apple.springboard.lockstate`.
  public func post(_ name: String) {
    let handlers = observers.with { $0.handlers.sorted { $0.key < $1.key }.map(\.value) }
    for handler in handlers { handler(name) }
  }

  /// - Parameter handler: called for every name posted from now on; it must return soon.
  func observe(_ handler: @escaping @Sendable (String) -> Void) -> Observation {
    let id = observers.with {
      $0.last += 1
      $0.handlers[$0.last] = handler
      return $0.last
    }
    return Observation(id: id, board: self)
  }

  private func remove(_ id: Int) {
    observers.with { $0.handlers[id] = nil }
  }
}
