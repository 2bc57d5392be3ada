import DeviceBridge
import Transport
import Wire

/// Keeps the last lines of a phone's log while scenarios run on it, for what reports show around a failure.
///
/// A log that cannot be read costs a report its lines and nothing else.
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
  }
  private let state = Guarded(State())
  private let news: any PhoneNews
  private let reader = Guarded<Task<Void, Never>?>(nil)

  /// - Returns: nil for a phone that tells nothing by itself.
  init?(_ link: any PhoneLink) {
    guard let news = link as? any PhoneNews else { return nil }
    self.news = news
  }

  /// Opens the log and keeps reading it, also after the phone has been away, until `stop`.
  func start() async {
    let log = await unlessCancelled { [news] in try? await news.log(openedBy: .after(Self.openingLimit)) }
    let task = Task { await read(log ?? nil) }
    reader.with { $0 = task }
  }

  func stop() { reader.with { $0 }?.cancel() }

  /// An attempt begins; what was written before it is none of its business.
  func begin() { state.with { $0 = State() } }

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

  private func read(_ first: PhoneLog?) async {
    var log = first
    var pause = Duration.seconds(1)
    while !Task.isCancelled {
      if let log {
        pause = .seconds(1)
        do {
          for try await record in log { note(record.isCut ? "\(record.text) …" : record.text) }
        } catch {
          note("(the log ended here: \(error.sentence))")
        }
      }
      do { try await ContinuousClock().sleep(for: pause) } catch { return }
      pause = min(pause * 2, .seconds(10))
      log = await unlessCancelled { [news] in try? await news.log(openedBy: .after(Self.openingLimit)) } ?? nil
    }
  }

  private func note(_ text: String) {
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
