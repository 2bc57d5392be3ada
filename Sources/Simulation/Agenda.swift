/// What is to come, the earliest first, and of the same moment in the order in which it was put in.
struct Agenda<Item> {
  private struct Entry {
    var at: Duration
    var number: Int
    var item: Item
    func isBefore(_ other: Entry) -> Bool { at != other.at ? at < other.at : number < other.number }
  }
  private var heap: [Entry] = []
  private var count = 0

  var next: Duration? { heap.first?.at }

  mutating func put(_ item: Item, at moment: Duration) {
    count += 1
    heap.append(Entry(at: moment, number: count, item: item))
    var child = heap.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  mutating func take() -> (at: Duration, item: Item)? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    guard !heap.isEmpty else { return (first.at, first.item) }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in (2 * parent + 1)...(2 * parent + 2) where child < heap.count && heap[child].isBefore(heap[least]) {
        least = child
      }
      guard least != parent else { return (first.at, first.item) }
      heap.swapAt(parent, least)
      parent = least
    }
  }

  mutating func removeAll() { heap.removeAll(keepingCapacity: true) }
}
