/// Names with `*` for any characters and `?` for one.
enum Glob {
  static func matches(_ name: String, _ pattern: String) -> Bool {
    let (name, pattern) = (Array(name), Array(pattern))
    var (at, place) = (0, 0)
    // Where the last star stands, and how much of the name it has taken so far.
    var star: (place: Int, at: Int)?
    while at < name.count {
      if place < pattern.count, pattern[place] == "*" {
        star = (place, at)
        place += 1
      } else if place < pattern.count, pattern[place] == "?" || pattern[place] == name[at] {
        (at, place) = (at + 1, place + 1)
      } else if let last = star {
        star = (last.place, last.at + 1)
        (at, place) = (last.at + 1, last.place + 1)
      } else {
        return false
      }
    }
    return pattern[place...].allSatisfy { $0 == "*" }
  }
}
