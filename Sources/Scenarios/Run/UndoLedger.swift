import Fleet
import Wire

/// What is arranged on one phone now, kept in the state folder before it is brought about.
actor UndoLedger {
  /// Longest that the disk may take.
  private static let limit = Duration.seconds(10)

  private let udid: UDID
  private let run: Int
  private let notes: any UndoNotes
  private var open: [UndoNote] = []

  init(_ udid: UDID, run: Int, notes: any UndoNotes) {
    self.udid = udid
    self.run = run
    self.notes = notes
  }

  /// What earlier runs have left, the oldest first.
  ///
  /// - Throws: what keeps this host from knowing.
  func leftovers() throws(HostTrouble) -> [UndoNote] {
    open = try notes.notes(of: udid)
    return open
  }

  /// - Returns: why it could not be written down; nothing may be arranged then.
  func add(_ arrangement: Arrangement, scenario: String) async -> String? {
    let note = UndoNote(
      state: arrangement.state, back: arrangement.back.text, scenario: scenario, run: run)
    open.append(note)
    guard let trouble = await store() else { return nil }
    if let index = open.lastIndex(of: note) { open.remove(at: index) }
    return trouble.sentence
  }

  /// It is undone.
  func settle(_ arrangement: Arrangement) async {
    let index = open.lastIndex { $0.state == arrangement.state && $0.back == arrangement.back.text }
    guard let index else { return }
    open.remove(at: index)
    // A note too many is undone once more, which harms nothing.
    _ = await store()
  }

  /// A note that nothing can be made of.
  func drop(_ note: UndoNote) async {
    open.removeAll { $0 == note }
    _ = await store()
  }

  private func store() async -> HostTrouble? {
    let (notes, udid, open) = (notes, udid, open)
    return await OnDisk.within(Self.limit) {
      do throws(HostTrouble) { try notes.store(open, of: udid) } catch { return error }
      return nil
    }
  }
}
