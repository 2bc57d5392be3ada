import Transport
import Wire

/// The daemons' latest lists, shared by all lanes: two hundred lanes ask for one list a second, not for one each.
///
/// Numbers are given to other phones after a replug or a restart of the daemon, so a list is believed for a moment only.
final class Roster: Sendable {
  /// The whole process asks the same daemons.
  static let shared = Roster()

  private struct Book {
    /// When the newest list was asked for.
    var asked: ContinuousClock.Instant?
    var phones: [UDID: ListedPhone] = [:]
    /// Somebody is asking now; these wait for it.
    var isAsking = false
    var waiting: [Latch] = []
  }
  private enum Turn {
    case known(ListedPhone)
    case absent
    case ask
    case wait(Latch)
  }
  private let books = Guarded<[String: Book]>([:])
  private let freshness = Duration.seconds(1)
  /// How long somebody else's question is waited for.
  private let patience = Duration.seconds(1)

  /// The phone as a list shows it that is hardly older than this call.
  ///
  /// - Throws: `.absent`, or errors about the daemon.
  func phone(_ udid: UDID, on mux: Mux, _ leash: Leash, by deadline: Deadline) throws(PhoneError) -> ListedPhone {
    let key = mux.address.description
    let start = ContinuousClock.now
    var isPatient = true
    while true {
      switch turn(udid, key, since: start, waits: isPatient) {
      case .known(let phone): return phone
      case .absent: throw .absent(udid)
      case .ask:
        defer { wake(key) }
        let phones = try mux.on(leash).list(by: deadline)
        guard let phone = phones.first(where: { $0.udid == udid }) else { throw .absent(udid) }
        return phone
      case .wait(let latch):
        // An asker that fails leaves the question to the next, and one that hangs holds up nobody for long.
        isPatient = leash.wait(for: latch, until: min(deadline, .after(patience)))
        if leash.isCut || deadline.hasPassed { throw .muxSilent(mux.address, detail: "no reply in time") }
      }
    }
  }

  private func turn(_ udid: UDID, _ key: String, since start: ContinuousClock.Instant, waits: Bool) -> Turn {
    books.with { books in
      let book = books[key, default: Book()]
      if let asked = book.asked, .now - asked < freshness {
        if let phone = book.phones[udid] { return .known(phone) }
        if asked >= start { return .absent }
      }
      if book.isAsking, waits {
        let latch = Latch()
        books[key, default: Book()].waiting.append(latch)
        return .wait(latch)
      }
      books[key, default: Book()].isAsking = true
      return .ask
    }
  }

  private func wake(_ key: String) {
    let waiting = books.with { books in
      books[key]?.isAsking = false
      defer { books[key]?.waiting = [] }
      return books[key]?.waiting ?? []
    }
    for latch in waiting { latch.open() }
  }

  /// Takes a list that somebody has had from the daemon.
  func learn(_ phones: [ListedPhone], asked: ContinuousClock.Instant, from address: MuxAddress) {
    let entries = Dictionary(phones.map { ($0.udid, $0) }, uniquingKeysWith: { first, _ in first })
    books.with { books in
      if let known = books[address.description]?.asked, known > asked { return }
      books[address.description, default: Book()].asked = asked
      books[address.description]?.phones = entries
    }
  }

  /// No number is believed any more: the daemon has gone.
  func forgetAll(at address: MuxAddress) { books.with { $0[address.description]?.asked = nil } }

  /// The number of this phone is no longer believed.
  func forget(_ udid: UDID, at address: MuxAddress) { books.with { $0[address.description]?.phones[udid] = nil } }
}
