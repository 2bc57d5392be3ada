/// The known word that somebody most likely meant.
public enum NearestWord {
  /// - Returns: nil when no word is near: up to a third of its letters, and at least one, may differ. A start of at least
  ///   three letters counts too, if only one word begins so.
  public static func to(_ typed: String, among words: [String]) -> String? {
    let lowered = typed.lowercased()
    let measured = words.map { (word: $0, distance: distance(lowered, $0.lowercased())) }
    if let best = measured.min(by: { $0.distance < $1.distance }), best.distance <= max(1, best.word.count / 3) {
      return best.word
    }
    let longer = words.filter { lowered.count >= 3 && $0.lowercased().hasPrefix(lowered) }
    return longer.count == 1 ? longer[0] : nil
  }

  /// Letters to add, drop, change or swap with their neighbour.
  static func distance(_ left: String, _ right: String) -> Int {
    // What somebody pastes can be long, and nothing that long is near to a name of ours.
    let left = Array(left.unicodeScalars.prefix(64))
    let right = Array(right.unicodeScalars.prefix(64))
    if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
    var beforeLast = [Int](repeating: 0, count: right.count + 1)
    var last = Array(0...right.count)
    for row in 1...left.count {
      var current = [row] + [Int](repeating: 0, count: right.count)
      for column in 1...right.count {
        let same = left[row - 1] == right[column - 1]
        var best = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + (same ? 0 : 1))
        if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
          best = min(best, beforeLast[column - 2] + 1)
        }
        current[column] = best
      }
      beforeLast = last
      last = current
    }
    return last[right.count]
  }
}
