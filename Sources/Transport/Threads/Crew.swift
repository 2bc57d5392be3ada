/// Threads that run bodies as they come, each body on a thread of its own. A thread that is done waits a moment for the
/// next body, since making a thread costs more than most bodies do.
public final class Crew: Sendable {
  public typealias Body = @Sendable () -> Void

  private let name: String
  private let stackBytes: Int
  private let bench: Bench

  /// - Parameters:
  ///   - name: of the threads; the system keeps fifteen characters.
  ///   - spare: how many threads wait for a body at most.
  ///   - patience: how long each of them waits.
  public init(name: String, stackBytes: Int = 512 << 10, spare: Int = 8, patience: Duration = .seconds(1)) {
    self.name = name
    self.stackBytes = stackBytes
    bench = Bench(spare: spare, patience: patience)
  }

  deinit { dismiss() }

  public func run(_ body: @escaping Body) {
    if bench.give(body) { return }
    let first = Guarded<Body?>(body)
    _ = Worker(name: name, stackBytes: stackBytes) { [bench] in
      // What a body holds is let go when it ends, not when its thread does.
      var body = first.taken()
      while body != nil {
        body?()
        body = nil
        body = bench.next()
      }
    }
  }

  /// Sends the waiting threads home; those that work go when their bodies end.
  public func dismiss() { bench.close() }
}

/// The threads that wait for a body.
private final class Bench: Sendable {
  private final class Seat: Sendable {
    let called = Latch()
    let body = Guarded<Crew.Body?>(nil)
  }

  private let spare: Int
  private let patience: Duration
  private let seats = Guarded<(free: [Seat], isClosed: Bool)>(([], false))

  init(spare: Int, patience: Duration) {
    self.spare = spare
    self.patience = patience
  }

  /// - Returns: false when nobody waits.
  func give(_ body: @escaping Crew.Body) -> Bool {
    guard let seat = seats.with({ $0.free.popLast() }) else { return false }
    seat.body.with { $0 = body }
    seat.called.open()
    return true
  }

  /// Waits for a body, on a thread that has none.
  ///
  /// - Returns: nil when the thread is to end.
  func next() -> Crew.Body? {
    let seat = Seat()
    let sits = seats.with {
      guard !$0.isClosed, $0.free.count < spare else { return false }
      $0.free.append(seat)
      return true
    }
    guard sits else { return nil }
    if !seat.called.wait(until: .after(patience)), seats.with({ $0.free.remove(seat) }) { return nil }
    // Whoever has taken the seat calls at once.
    _ = seat.called.wait(until: .never)
    return seat.body.taken()
  }

  func close() {
    let free = seats.with { seats in
      defer { seats = ([], true) }
      return seats.free
    }
    for seat in free { seat.called.open() }
  }
}

extension Array where Element: AnyObject {
  /// - Returns: whether it was there.
  fileprivate mutating func remove(_ element: Element) -> Bool {
    guard let index = firstIndex(where: { $0 === element }) else { return false }
    remove(at: index)
    return true
  }
}

extension Guarded where Value == Crew.Body? {
  fileprivate func taken() -> Crew.Body? {
    with { body in
      defer { body = nil }
      return body
    }
  }
}
