import Transport
import Wire

/// Gives rows to a command of the owner's: each as one line of JSON (the keys of `outcomes`) on the command's standard
/// input, one command at a time, in order.
///
/// Nobody waits for it: rows that it is too slow for wait here, and of too many the oldest are dropped, which is said.
/// It ends with `stop`, or with its last owner.
public final class OnChange: Sendable {
  private let errands: Errands
  private let ended = Latch()

  /// - Parameters:
  ///   - command: the program, looked for in PATH, and its arguments.
  ///   - environment: what it inherits, usually this process's own.
  ///   - mask: takes secrets out of the rows.
  ///   - limit: how long one command may take; then it is ended, with what it started.
  ///   - capacity: so many rows wait at most.
  ///   - say: told in a sentence when commands begin to fail, when they work again, and when rows were dropped; from the
  ///     command's own thread.
  public init(
    _ command: [String], environment: [String: String], masking mask: Mask = Mask([]),
    limit: Duration = .seconds(10), capacity: Int = 256, say: @escaping @Sendable (String) -> Void
  ) {
    errands = Errands(command, environment, mask, limit: limit, capacity: max(1, capacity), say: say)
    let (errands, ended) = (errands, ended)
    _ = Worker(name: "on-change") {
      errands.run()
      ended.open()
    }
  }

  deinit { errands.stop() }

  /// Takes a row, and returns at once.
  public func tell(_ row: OutcomeReport) { errands.add(row) }

  /// Ends the command that runs and lets go of what waits.
  ///
  /// - Returns: whether the thread ended by the deadline; an ended command takes half a second at most.
  @discardableResult
  public func stop(by deadline: Deadline) -> Bool {
    errands.stop()
    return ended.wait(until: deadline)
  }
}

/// The rows that wait, and the thread that carries them.
private final class Errands: Sendable {
  private struct State {
    var rows: [OutcomeReport] = []
    var dropped = 0
    var isStopped = false
    var wake: Latch?
  }

  private let command: [String]
  private let environment: [String: String]
  private let mask: Mask
  private let limit: Duration
  private let capacity: Int
  private let say: @Sendable (String) -> Void
  private let state = Guarded(State())

  init(
    _ command: [String], _ environment: [String: String], _ mask: Mask, limit: Duration, capacity: Int,
    say: @escaping @Sendable (String) -> Void
  ) {
    self.command = command
    self.environment = environment
    self.mask = mask
    self.limit = limit
    self.capacity = capacity
    self.say = say
  }

  func add(_ row: OutcomeReport) {
    let wake: Latch? = state.with { state in
      state.rows.append(row)
      if state.rows.count > capacity {
        state.rows.removeFirst()
        state.dropped += 1
      }
      return state.wake
    }
    wake?.open()
  }

  func stop() {
    let wake: Latch? = state.with { state in
      state.isStopped = true
      return state.wake
    }
    wake?.open()
  }

  func run() {
    // The same trouble is told once, however often it comes.
    var trouble: String?
    while let (row, dropped) = next() {
      if dropped > 0 {
        say(
          "\(dropped) \(dropped == 1 ? "row was" : "rows were") not given to \(title): it is slower than rows come. "
            + "The oldest were dropped; they are in the record. See them: fleetctl outcomes")
      }
      var row = row
      row.detail = row.detail.map { [mask] in mask($0) }
      let child = ChildProcess(command, environment: environment, input: Array((row.json.line + "\n").utf8))
      let ending = child.ending(by: .after(limit)) { [state] in state.with { $0.isStopped } }
      let found = words(ending, child.text)
      if let found, found != trouble { say("\(title) \(found)") }
      if found == nil, trouble != nil, ending == .exited(0) { say("\(title) works again.") }
      trouble = found
    }
  }

  private var title: String { "The command of supervise.on-change (\((command.first ?? "").oneLine()))" }

  private func words(_ ending: ChildProcess.Ending, _ output: String) -> String? {
    let last = output.split(separator: "\n").last.map { ": \(mask(String($0)).oneLine())" } ?? ""
    switch ending {
    case .exited(0), .stopped: return nil
    case .exited(let code): return "ends with \(code)\(last). Try it by hand: fleetctl outcomes --json --limit 1 | …"
    case .killed(let signal):
      return "was ended by signal \(signal)\(last). Look at the kernel's word: sudo dmesg | tail"
    case .timedOut:
      return "was ended because it takes longer than \(limit.shown)\(last). Let it do its work in the background."
    case .notStarted(let why):
      return "can't be started: \(why). It may be misspelt, or not in PATH. See: fleetctl config show --origin"
    }
  }

  /// Waits for a row.
  ///
  /// - Returns: nil when it is to end; else also how many were dropped since the last one.
  private func next() -> (OutcomeReport, Int)? {
    while true {
      let latch = Latch()
      let (isStopped, row, dropped): (Bool, OutcomeReport?, Int) = state.with { state in
        if state.isStopped { return (true, nil, 0) }
        guard !state.rows.isEmpty else {
          state.wake = latch
          return (false, nil, 0)
        }
        defer { state.dropped = 0 }
        return (false, state.rows.removeFirst(), state.dropped)
      }
      if isStopped { return nil }
      if let row { return (row, dropped) }
      _ = latch.wait(until: .never)
    }
  }
}
