import DeviceBridge
import Fleet
import Transport
import Wire

/// Reads a phone's log while scenarios run on it: finds the texts that their steps wait for, and keeps the last lines for
/// what reports show around a failure.
///
/// A log that cannot be read costs a report its lines; only a step that waits for a line minds.
final class PhoneDiary: Sendable {
  private static let capacity = 80
  private static let after = 40
  /// The longest line that is kept.
  private static let width = 400
  private static let openingLimit = Duration.seconds(5)

  private struct State {
    var lines: [String] = []
    /// The lines around what did not hold first, once something has not.
    var kept: [String]?
    var wanted = 0
    /// What is looked for, and the first line that held it.
    var found: [String: String?] = [:]
  }
  private struct Condition {
    var isOpen = false
    var trouble: String?
  }
  private let state = Guarded(State())
  private let condition = Guarded(Condition())
  private let log: any LogReading
  private let reader = Guarded<Task<Void, Never>?>(nil)

  init(_ log: any LogReading) { self.log = log }

  /// Opens the log, and keeps reading it, also after the phone has been away, until `stop`.
  func start() async {
    let tried = Guarded(false)
    let task = Task { await read(tried) }
    reader.with { $0 = task }
    // What is written from the first step on is to be seen.
    while !tried.with({ $0 }) {
      do { try await ContinuousClock().sleep(for: .milliseconds(5)) } catch { return }
    }
  }

  func stop() { reader.with { $0 }?.cancel() }

  /// An attempt begins; what was written before it is none of its business.
  ///
  /// - Parameter texts: what its steps look for.
  func begin(lookingFor texts: [String] = []) {
    let found = Dictionary(texts.map { ($0, String?.none) }, uniquingKeysWith: { first, _ in first })
    state.with { $0 = State(found: found) }
  }

  /// Something did not hold. The first such moment counts: what follows may only follow from it.
  func mark() {
    state.with { state in
      guard state.kept == nil else { return }
      state.kept = state.lines
      state.wanted = Self.after
    }
  }

  /// The lines around the mark; empty where there was none.
  func excerpt() -> [String] { state.with { $0.kept ?? [] } }

  /// The first line since the attempt began that holds a text that it looks for.
  func line(with text: String) -> String? { state.with { $0.found[text] ?? nil } }

  /// Why no lines come now.
  var trouble: String? {
    condition.with { $0.isOpen ? nil : $0.trouble ?? "it is not open" }
  }

  // MARK: - The reader

  private func read(_ tried: Guarded<Bool>) async {
    var pause = Duration.seconds(1)
    while !Task.isCancelled {
      do throws(PhoneError) {
        try await log.readLog(openedBy: .after(Self.openingLimit)) {
          condition.with { $0 = Condition(isOpen: true) }
          tried.with { $0 = true }
        } take: { record in
          note(record)
        }
        if closed("the phone has ended it") { pause = .seconds(1) }
      } catch {
        if closed(error.sentence) { pause = .seconds(1) }
      }
      tried.with { $0 = true }
      do { try await ContinuousClock().sleep(for: pause) } catch { return }
      pause = min(pause * 2, .seconds(10))
    }
  }

  /// - Returns: whether it was open before.
  private func closed(_ why: String) -> Bool {
    let wasOpen = condition.with { condition in
      defer { condition = Condition(trouble: why) }
      return condition.isOpen
    }
    if wasOpen { keep("(the log ended here: \(why))") }
    return wasOpen
  }

  private func note(_ record: LogRecord) {
    state.with { state in
      for (text, line) in state.found where line == nil && record.text.contains(text) {
        state.found[text] = AnswerText.visible(String(record.text.prefix(Self.width)))
      }
    }
    keep(record.isCut ? "\(record.text) …" : record.text)
  }

  private func keep(_ text: String) {
    let line = AnswerText.visible(text.count > Self.width ? "\(text.prefix(Self.width))…" : text)
    state.with { state in
      if state.wanted > 0 {
        state.kept?.append(line)
        state.wanted -= 1
      }
      state.lines.append(line)
      if state.lines.count > Self.capacity { state.lines.removeFirst() }
    }
  }
}
