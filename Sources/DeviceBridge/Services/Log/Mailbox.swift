import Transport

/// Hands items from a thread to one reader; a full box makes the thread wait, so nothing piles up.
final class Mailbox<Item: Sendable>: Sendable {
  private enum Turn { case taken, closed, full(Latch) }
  private struct State {
    var items: [Item] = []
    var next = 0
    var reader: CheckedContinuation<Result<Item?, PhoneError>, Never>?
    var room: Latch?
    var end: Result<Void, PhoneError>?
  }
  private let state = Guarded(State())
  private let capacity: Int

  init(capacity: Int) { self.capacity = capacity }

  /// Waits for room.
  ///
  /// - Returns: false once the box is closed; the item is dropped then.
  func put(_ item: Item) -> Bool {
    while true {
      let (turn, reader): (Turn, CheckedContinuation<Result<Item?, PhoneError>, Never>?) = state.with { state in
        if state.end != nil { return (.closed, nil) }
        if let reader = state.reader {
          state.reader = nil
          return (.taken, reader)
        }
        if state.items.count - state.next < capacity {
          state.items.append(item)
          return (.taken, nil)
        }
        let latch = Latch()
        state.room = latch
        return (.full(latch), nil)
      }
      reader?.resume(returning: .success(item))
      switch turn {
      case .taken: return true
      case .closed: return false
      case .full(let latch): _ = latch.wait(until: .never)
      }
    }
  }

  /// Nothing more comes; what is in the box can still be read. The first end counts.
  func close(_ end: Result<Void, PhoneError>) {
    let (reader, room) = state.with { state in
      let first = state.end == nil
      if first { state.end = end }
      defer { (state.reader, state.room) = (nil, nil) }
      return (first ? state.reader : nil, state.room)
    }
    room?.open()
    reader?.resume(returning: end.map { nil })
  }

  /// The next item; nil at an end without an error. One reader at a time: a second one ends at once.
  func take() async -> Result<Item?, PhoneError> {
    await withCheckedContinuation { continuation in
      let (answer, room): (Result<Item?, PhoneError>?, Latch?) = state.with { state in
        if state.next < state.items.count {
          let item = state.items[state.next]
          state.next += 1
          // Taken ones are given back now and then, not each time.
          if state.next == state.items.count || state.next > capacity {
            state.items.removeFirst(state.next)
            state.next = 0
          }
          defer { state.room = nil }
          return (.success(item), state.room)
        }
        if let end = state.end { return (end.map { nil }, nil) }
        guard state.reader == nil else { return (.success(nil), nil) }
        state.reader = continuation
        return (nil, nil)
      }
      room?.open()
      if let answer { continuation.resume(returning: answer) }
    }
  }
}
