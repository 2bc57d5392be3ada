import DeviceBridge
import Transport
import Wire

/// How far each phone has come, in one line that is drawn over; nothing at all where nobody watches a screen.
final class ProgressBoard: Sendable {
  private struct State {
    var texts: [(phone: UDID, text: String)] = []
    var drawn = ""
  }
  private let output: Output
  private let draws: Bool
  private let state = Guarded(State())

  init(_ context: Context) {
    output = context.output
    draws = !context.wantsJSON && context.output.isOnScreen
  }

  /// - Parameter title: what people call the phone.
  func set(_ progress: Progress, of phone: UDID, called title: String) {
    set("\(title) \(Self.text(progress))", of: phone)
  }

  func set(_ text: String, of phone: UDID) {
    guard draws else { return }
    change { texts in
      if let index = texts.firstIndex(where: { $0.phone == phone }) {
        texts[index].text = text
      } else {
        texts.append((phone, text))
      }
    }
  }

  /// The phone is done; its results can follow.
  func remove(_ phone: UDID) {
    guard draws else { return }
    change { $0.removeAll { $0.phone == phone } }
  }

  private func change(_ body: (inout [(phone: UDID, text: String)]) -> Void) {
    let line: String? = state.with { state in
      body(&state.texts)
      let line = state.texts.map(\.text).joined(separator: ", ").printable
      if line == state.drawn { return nil }
      state.drawn = line
      return line
    }
    if let line { output.drawRow(line) }
  }

  private static func text(_ progress: Progress) -> String {
    switch progress {
    case .sent(let bytes, let all): "sent \(all > 0 ? bytes * 100 / all : 100) % of \(megabytes(all))"
    case .working(let word, let percent): "\(word) \(percent) %"
    }
  }

  private static func megabytes(_ bytes: Int) -> String {
    let tenths = (bytes + 50_000) / 100_000
    return "\(tenths / 10).\(tenths % 10) MB"
  }
}

extension Output {
  /// Progress in one row of eighty columns at most: a drawn line that wraps cannot be drawn over.
  func drawRow(_ text: String) {
    var row = ""
    var columns = 0
    for character in text {
      columns += DisplayWidth.of(String(character))
      if columns > 78 { break }
      row.append(character)
    }
    draw(row)
  }
}
