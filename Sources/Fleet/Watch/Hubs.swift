import Wire

/// Which phones hang on which hub, and whether a hub has left with all of them.
struct Hubs: Equatable, Sendable {
  /// So many phones leave together by no accident.
  private static let least = 3
  /// A look may have found a phone gone a little before the mux said so, and its settle time is over as much sooner.
  private static let early = Duration.seconds(1)

  /// The hubs above each phone's port, the nearest first.
  private var hubs: [UDID: [String]] = [:]
  /// The phones of each hub, without those of lost ones.
  private var phones: [String: Set<UDID>] = [:]
  /// When a phone left that is not back, without those of lost hubs.
  private var left: [UDID: Duration] = [:]
  /// The hubs that are gone, with their phones.
  private(set) var lost: [String: Set<UDID>] = [:]

  /// - Returns: the phones of hubs that are back with this one.
  mutating func attached(_ udid: UDID, port: String?) -> Set<UDID> {
    var back: Set<UDID> = []
    for (hub, phones) in lost where phones.contains(udid) {
      back.formUnion(phones)
      lost[hub] = nil
    }
    for other in back where other != udid { unplace(other) }
    if let above = port.map(Self.hubs(above:)) ?? hubs[udid] {
      unplace(udid)
      hubs[udid] = above
      for hub in above { phones[hub, default: []].insert(udid) }
    }
    return back
  }

  mutating func detached(_ udid: UDID, at now: Duration) {
    if hubs[udid] != nil, left[udid] == nil, !isLost(udid) { left[udid] = now }
  }

  /// It was missed by itself, or is no body any more: it hangs on no hub now.
  mutating func forget(_ udid: UDID) {
    if !isLost(udid) { unplace(udid) }
  }

  /// Nothing is known of any phone.
  ///
  /// - Returns: the phones of the hubs that were gone.
  mutating func forgetAll() -> Set<UDID> {
    defer { self = Hubs() }
    return lost.values.reduce(into: []) { $0.formUnion($1) }
  }

  /// Looks for a hub whose phones have all left within the settle time, the first of them a settle time ago.
  ///
  /// - Returns: its phones.
  mutating func miss(at now: Duration, settle: Duration) -> Set<UDID> {
    let settled = now - settle + Self.early
    guard left.values.contains(where: { $0 <= settled }) else { return [] }
    var found: (hub: String, phones: Set<UDID>)?
    for hub in Set(left.keys.flatMap { hubs[$0] ?? [] }) {
      let phones = self.phones[hub] ?? []
      let left = phones.compactMap { self.left[$0] }
      guard phones.count >= Self.least, left.count == phones.count, let first = left.min(), let last = left.max(),
        last - first <= settle, first <= settled
      else { continue }
      let isBetter =
        found.map { ($0.phones.count, $0.hub.utf8.count, $0.hub) < (phones.count, hub.utf8.count, hub) } ?? true
      if isBetter { found = (hub, phones) }
    }
    guard let found else { return [] }
    for phone in found.phones { takeOff(phone) }
    lost[found.hub] = found.phones
    return found.phones
  }

  /// When `miss` may next find one.
  func next(after now: Duration, settle: Duration) -> Duration? {
    left.values.map { $0 + settle - Self.early }.filter { $0 > now }.min()
  }

  private func isLost(_ udid: UDID) -> Bool { lost.values.contains { $0.contains(udid) } }

  private mutating func unplace(_ udid: UDID) {
    takeOff(udid)
    hubs[udid] = nil
  }

  private mutating func takeOff(_ udid: UDID) {
    for hub in hubs[udid] ?? [] { phones[hub]?.remove(udid) }
    left[udid] = nil
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
