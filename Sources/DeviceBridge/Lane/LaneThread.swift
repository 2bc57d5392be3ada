import Glibc
import Transport

/// One phone's thread: runs its calls one after another, and owns every handle of the C library.
///
/// An actor would not do: a call that waits behind a hung one has to end at its own deadline all the same.
final class LaneThread: Sendable {
  typealias Job = @Sendable (PhoneWork) -> Void

  private enum Phase { case unused, running, stopped }
  private struct State {
    var jobs: [Job] = []
    var phase = Phase.unused
    var alarm = Latch()
  }
  private let name: String
  private let context: LaneContext
  private let state = Guarded(State())

  init(name: String, _ context: LaneContext) {
    self.name = name
    self.context = context
  }

  /// The first job starts the thread.
  ///
  /// - Returns: false after `stop`; the job is then never run.
  func submit(_ job: @escaping Job) -> Bool {
    let (taken, start) = state.with { state in
      guard state.phase != .stopped else { return (false, false) }
      let start = state.phase == .unused
      state.phase = .running
      state.jobs.append(job)
      state.alarm.open()
      return (true, start)
    }
    if start { _ = Worker(name: name) { [self] in context.onThisThread(run) } }
    return taken
  }

  /// Ends the thread behind the jobs it has.
  func stop() {
    state.with {
      $0.phase = .stopped
      $0.alarm.open()
    }
  }

  /// The library writes to dead connections through OpenSSL, which would raise the signal on the calling thread.
  static func blockPipeSignal() {
    var pipe = sigset_t()
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &pipe, nil)
  }

  private func run() {
    Self.blockPipeSignal()
    let work = PhoneWork(context)
    while true {
      let (job, alarm): (Job?, Latch?) = state.with { state in
        if !state.jobs.isEmpty { return (state.jobs.removeFirst(), nil) }
        if state.phase == .stopped { return (nil, nil) }
        state.alarm = Latch()
        return (nil, state.alarm)
      }
      if let job {
        job(work)
      } else if let alarm {
        _ = alarm.wait(until: .never)
      } else {
        work.dropSession()
        return
      }
    }
  }
}
