import Wire

/// When each body is to be ticked next: a heap, so that five hundred cost no more than a few.
struct Schedule: Sendable {
  private struct Entry: Sendable {
    var due: Duration
    var udid: UDID
  }
  private var heap: [Entry] = []
  /// What holds for each; entries that say something else are old.
  private var valid: [UDID: Duration] = [:]

  mutating func set(_ udid: UDID, _ due: Duration?) {
    guard valid[udid] != due else { return }
    valid[udid] = due
    if let due { push(Entry(due: due, udid: udid)) }
  }

  /// The next moment; nil where nothing is due.
  mutating func next() -> Duration? {
    dropOld()
    return heap.first?.due
  }

  /// The next body that is due by then; it is no longer scheduled.
  mutating func pop(at now: Duration) -> UDID? {
    dropOld()
    guard let first = heap.first, first.due <= now else { return nil }
    removeFirst()
    valid[first.udid] = nil
    return first.udid
  }

  private mutating func dropOld() { while let first = heap.first, valid[first.udid] != first.due { removeFirst() } }

  private mutating func push(_ entry: Entry) {
    heap.append(entry)
    var place = heap.count - 1
    while place > 0 {
      let parent = (place - 1) / 2
      guard heap[place].due < heap[parent].due else { return }
      heap.swapAt(place, parent)
      place = parent
    }
  }

  private mutating func removeFirst() {
    guard let last = heap.popLast(), !heap.isEmpty else { return }
    heap[0] = last
    var place = 0
    while true {
      let left = 2 * place + 1
      guard left < heap.count else { return }
      let right = left + 1
      let child = right < heap.count && heap[right].due < heap[left].due ? right : left
      guard heap[child].due < heap[place].due else { return }
      heap.swapAt(place, child)
      place = child
    }
  }
}
