import DeviceBridge
import Fleet
import Glibc
import Scenarios
import Transport
import Wire

/// The person at the terminal, asked one thing at a time.
final class TerminalOperator: Operator {
  private let output: Output
  private let input: Int32
  private let turn = Guarded(Turn())

  private struct Turn {
    var isTaken = false
    var before: (@Sendable () -> Void)?
  }

  /// - Throws: a complaint where nobody could answer.
  init(_ output: Output, input: Int32 = STDIN_FILENO, isTerminal: Bool = isatty(STDIN_FILENO) == 1) throws(Complaint) {
    guard isTerminal else {
      throw Complaint(
        .usage,
        "--attended needs somebody at a terminal, and standard input is none. It may come from a pipe or a file. "
          + "Start it in a terminal, or leave --attended away.")
    }
    self.output = output
    self.input = input
  }

  /// Called before each question, so that nothing is drawn over it.
  func beforeAsking(_ act: @escaping @Sendable () -> Void) { turn.with { $0.before = act } }

  func ask(_ sentence: String, about body: Body, by deadline: Deadline) async -> Bool {
    let isStopped = Guarded(false)
    return await withTaskCancellationHandler {
      guard await takeTurn(by: deadline) else { return false }
      defer { turn.with { $0.isTaken = false } }
      turn.with { $0.before }?()
      output.say("\(body.title): \(sentence). Then press Enter; n and Enter if it cannot be done.".printable)
      let input = input
      return await withCheckedContinuation { continuation in
        _ = Worker(name: "operator") {
          continuation.resume(returning: Self.answer(input, by: deadline) { isStopped.with { $0 } })
        }
      }
    } onCancel: {
      isStopped.with { $0 = true }
    }
  }

  /// People do one thing at a time, however many phones ask.
  private func takeTurn(by deadline: Deadline) async -> Bool {
    while true {
      let isMine = turn.with { turn in
        defer { turn.isTaken = true }
        return !turn.isTaken
      }
      if isMine { return true }
      if deadline.hasPassed { return false }
      do { try await ContinuousClock().sleep(for: .milliseconds(100)) } catch { return false }
    }
  }

  /// Reads one line.
  ///
  /// - Returns: whether it is a yes: an empty one, or one that begins with y.
  private static func answer(_ input: Int32, by deadline: Deadline, isStopped: () -> Bool) -> Bool {
    var line: [UInt8] = []
    while !deadline.hasPassed, !isStopped() {
      var entry = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, 100) > 0 else { continue }
      var byte: UInt8 = 0
      guard read(input, &byte, 1) == 1 else { return false }
      if byte == UInt8(ascii: "\n") { return line.isEmpty || line.first == UInt8(ascii: "y") }
      if byte > 0x20 { line.append(byte | 0x20) }
    }
    return false
  }
}
