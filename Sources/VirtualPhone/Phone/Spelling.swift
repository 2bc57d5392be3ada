/// Which of the known words somebody who misspelt one may have meant.
enum Spelling {
  /// A refusal with its candidates.
  ///
  /// - Parameters:
  ///   - what: the first sentence: what happened.
  ///   - next: what to type when no word is near.
  static func refusal(_ what: String, meant word: String, among known: [String], next: String) -> ActionError {
    let near = nearest(to: word, among: known)
    let cause = near.map { "Did you mean \($0)?" } ?? "It may be misspelt."
    return ActionError("\(what) \(cause) Known: \(known.joined(separator: ", ")). Try: \(near ?? next).")
  }

  /// The known word with the fewest changed letters, if it is few enough.
  static func nearest(to word: String, among known: [String]) -> String? {
    let typed = Array(word.lowercased().prefix(64))
    let ranked = known.map { (word: $0, distance: distance(typed, Array($0.lowercased()))) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    let started = best.distance > 2 ? known.first { $0.lowercased().starts(with: typed) && typed.count > 2 } : nil
    return started ?? (best.distance <= max(2, typed.count / 3) ? best.word : nil)
  }

  /// Levenshtein's distance.
  private static func distance(_ left: [Character], _ right: [Character]) -> Int {
    var row = Array(0...right.count)
    for (index, letter) in left.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in right.indices {
        let cost = min(row[column] + 1, row[column + 1] + 1, diagonal + (letter == right[column] ? 0 : 1))
        diagonal = row[column + 1]
        row[column + 1] = cost
      }
    }
    return row[right.count]
  }
}
