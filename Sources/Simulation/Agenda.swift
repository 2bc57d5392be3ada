import Wire

/// What is to come, the earliest first, and of the same moment in the order in which it was put in.
struct Agenda<Item> {
  private struct Key {
    /// In nanoseconds.
    var at: Int64
    var number: Int
    var slot: Int
    func isBefore(_ other: Key) -> Bool { at != other.at ? at < other.at : number < other.number }
  }
  /// Keys are moved about, items stay where they are.
  private var heap: [Key] = []
  private var items: [Item?] = []
  private var free: [Int] = []
  private var count = 0

  var next: Duration? { heap.first.map { .nanoseconds($0.at) } }

  mutating func put(_ item: Item, at moment: Duration) {
    count += 1
    let slot = free.popLast() ?? items.count
    if slot == items.count { items.append(item) } else { items[slot] = item }
    // Never sooner than it was said.
    let nanoseconds = moment.inNanoseconds
    let at = Duration.nanoseconds(nanoseconds) < moment ? nanoseconds + 1 : nanoseconds
    heap.append(Key(at: at, number: count, slot: slot))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func take() -> Item? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    if !heap.isEmpty {
      heap[0] = last
      sink()
    }
    defer {
      items[first.slot] = nil
      free.append(first.slot)
    }
    return items[first.slot]
  }

  private mutating func sink() {
    var parent = 0
    while true {
      var least = parent
      for child in (2 * parent + 1)...(2 * parent + 2) where child < heap.count && heap[child].isBefore(heap[least]) {
        least = child
      }
      guard least != parent else { return }
      heap.swapAt(parent, least)
      parent = least
    }
  }

  mutating func removeAll() {
    heap.removeAll(keepingCapacity: true)
    items.removeAll(keepingCapacity: true)
    free.removeAll(keepingCapacity: true)
  }
}
