/// Finds what somebody meant to type.
enum Nearness {
  /// The candidate nearest to the text, if it is near enough to be meant.
  static func nearest(to typed: String, among candidates: [String]) -> String? {
    let limit = max(1, min(3, typed.count / 3))
    let near = candidates.map { (name: $0, distance: distance(typed, $0)) }
      .filter { $0.distance <= limit }
      .min { $0.distance < $1.distance }?.name
    // A cut-off word is meant too, if it can be only one.
    let longer = candidates.filter { typed.count >= 3 && $0.hasPrefix(typed) }
    return near ?? (longer.count == 1 ? longer[0] : nil)
  }

  /// Edits between two texts: insertions, deletions, replacements and swaps of neighbours.
  static func distance(_ left: String, _ right: String) -> Int {
    // What somebody pastes can be long, and nothing that long is near to a name of ours.
    let left = Array(left.prefix(64))
    let right = Array(right.prefix(64))
    guard !left.isEmpty, !right.isEmpty else { return max(left.count, right.count) }
    var before = [Int](repeating: 0, count: right.count + 1)
    var above = Array(0...right.count)
    for row in 1...left.count {
      var line = [row] + [Int](repeating: 0, count: right.count)
      for column in 1...right.count {
        let same = left[row - 1] == right[column - 1]
        line[column] = min(above[column] + 1, line[column - 1] + 1, above[column - 1] + (same ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          line[column] = min(line[column], before[column - 2] + 1)
        }
      }
      before = above
      above = line
    }
    return above[right.count]
  }
}
