import Wire

/// Which phones hang on which hub, and whether a hub has left with all of them.
struct Hubs: Equatable, Sendable {
  /// So many phones leave together by no accident.
  private static let least = 3
  /// A look may have found a phone gone a little before the mux said so, and its settle time is over as much sooner.
  private static let early = Duration.seconds(1)

  private struct Place: Equatable, Sendable {
    var port: String
    var left: Duration?
  }
  private var places: [UDID: Place] = [:]
  /// The hubs that are gone, with their phones.
  private(set) var lost: [String: Set<UDID>] = [:]

  /// - Returns: the phones of hubs that are back with this one.
  mutating func attached(_ udid: UDID, port: String?) -> Set<UDID> {
    if let port = port ?? places[udid]?.port { places[udid] = Place(port: port) }
    var back: Set<UDID> = []
    for (hub, phones) in lost where phones.contains(udid) {
      back.formUnion(phones)
      lost[hub] = nil
    }
    for other in back where other != udid { places[other] = nil }
    return back
  }

  mutating func detached(_ udid: UDID, at now: Duration) {
    if places[udid]?.left == nil { places[udid]?.left = now }
  }

  /// It was missed by itself, or is no body any more: it hangs on no hub now.
  mutating func forget(_ udid: UDID) {
    guard !lost.values.contains(where: { $0.contains(udid) }) else { return }
    places[udid] = nil
  }

  /// Nothing is known of any phone.
  ///
  /// - Returns: the phones of the hubs that were gone.
  mutating func forgetAll() -> Set<UDID> {
    defer { (places, lost) = ([:], [:]) }
    return lost.values.reduce(into: []) { $0.formUnion($1) }
  }

  /// Looks for a hub whose phones have all left within the settle time, the first of them a settle time ago.
  ///
  /// - Returns: its phones.
  mutating func miss(at now: Duration, settle: Duration) -> Set<UDID> {
    let settled = now - settle + Self.early
    let isDue = places.values.contains { $0.left.map { $0 <= settled } ?? false }
    guard isDue else { return [] }
    let free = places.filter { entry in !lost.values.contains { $0.contains(entry.key) } }
    var found: (hub: String, phones: Set<UDID>)?
    for hub in Set(free.values.flatMap { Self.hubs(above: $0.port) }) {
      let phones = free.filter { Self.hubs(above: $0.value.port).contains(hub) }
      let left = phones.values.compactMap(\.left)
      guard phones.count >= Self.least, left.count == phones.count, let first = left.min(), let last = left.max(),
        last - first <= settle, first <= settled
      else { continue }
      let isBetter =
        found.map { ($0.phones.count, $0.hub.utf8.count, $0.hub) < (phones.count, hub.utf8.count, hub) } ?? true
      if isBetter { found = (hub, Set(phones.keys)) }
    }
    guard let found else { return [] }
    lost[found.hub] = found.phones
    return found.phones
  }

  /// `1-2.4.1` hangs on 1-2.4, on 1-2, and on the root hub usb1.
  static func hubs(above port: String) -> [String] {
    var hubs: [String] = []
    var path = Substring(port)
    while let dot = path.lastIndex(of: ".") {
      path = path[..<dot]
      hubs.append(String(path))
    }
    if let dash = path.firstIndex(of: "-") { hubs.append("usb\(path[..<dash])") }
    return hubs
  }
}
