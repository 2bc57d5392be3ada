import Transport

/// The phone's notifications (names without payload), as notification_proxy relays them.
public typealias NotificationBoard = Board<String>

/// What is told to everybody who listens at that moment, and kept for nobody.
public final class Board<Message: Sendable>: Sendable {
  /// Ends an observation; also ends with its last reference.
  final class Observation: Sendable {
    fileprivate let id: Int
    private let board: Board

    fileprivate init(id: Int, board: Board) {
      self.id = id
      self.board = board
    }

    deinit { end() }

    func end() { board.remove(id) }
  }

  private struct Observers {
    var last = 0
    var handlers: [Int: @Sendable (Message) -> Void] = [:]
  }

  private let observers = Guarded(Observers())

  public init() {}

  var observerCount: Int { observers.with { $0.handlers.count } }

  /// Tells every observer, on the caller's thread.
  ///
  /// - Parameter message: for notifications the name, such as `com.apple.springboard.lockstate`.
  public func post(_ message: Message) {
    let handlers = observers.with { $0.handlers.sorted { $0.key < $1.key }.map(\.value) }
    for handler in handlers { handler(message) }
  }

  /// - Parameter handler: called for everything posted from now on; it must return soon.
  func observe(_ handler: @escaping @Sendable (Message) -> Void) -> Observation {
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
