import Wire

/// Which of the known words somebody who misspelt one may have meant.
enum Spelling {
  /// A refusal with its candidates.
  ///
  /// - Parameters:
  ///   - what: the first sentence: what happened.
  ///   - next: what to type when no word is near.
  static func refusal(_ what: String, meant word: String, among known: [String], next: String) -> ActionError {
    let near = NearestWord.to(word, among: known)
    let cause = near.map { "Did you mean \($0)?" } ?? "It may be misspelt."
    return ActionError("\(what) \(cause) Known: \(known.joined(separator: ", ")). Try: \(near ?? next).")
  }
}
