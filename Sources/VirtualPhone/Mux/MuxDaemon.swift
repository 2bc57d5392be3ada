import Transport
import Wire

/// The daemon around the bus: its socket, and its comings and goings.
final class MuxDaemon: Sendable {
  private enum Life {
    case up(SocketServer)
    /// With the server that ended, whose file may still lie there.
    case down(SocketServer?)
    case ended
  }

  /// How the daemon goes and comes back.
  struct Absence: Sendable {
    /// Phone time until it listens again.
    var time: Duration
    /// As after SIGKILL: the socket's file stays and nobody answers there.
    var leavesFile = false
    /// Phone time between one phone's appearance and the next one's.
    var apart = Duration.zero
    /// So many phones, the last of the bus, are found and never listed.
    var lost = 0
  }

  /// As bound at the start; every later life listens on the same.
  let address: SocketAddress
  private let bus: MuxBus
  private let journal: Journal
  private let timers: PhoneTimers
  private let clock: any PhoneClock
  private let life = Guarded(Life.down(nil))

  init(on listener: Listener, bus: MuxBus, journal: Journal, timers: PhoneTimers, clock: any PhoneClock) {
    address = listener.address
    self.bus = bus
    self.journal = journal
    self.timers = timers
    self.clock = clock
    serve(on: listener)
  }

  /// Quits as the daemon does when it is told to: every connection ends; then comes back, with numbers from 1.
  func quit(_ absence: Absence) {
    let server = life.with { life -> SocketServer? in
      guard case .up(let server) = life else { return nil }
      life = .down(server)
      return server
    }
    guard let server else { return }
    bus.daemonEnded()
    server.stop(by: .after(.seconds(1)), leavesFile: absence.leavesFile)
    comeBack(absence)
  }

  /// Ends for good.
  func stop(by deadline: Deadline) {
    let server = life.with { life -> SocketServer? in
      defer { life = .ended }
      switch life {
      case .up(let server): return server
      case .down(let server):
        server?.removeFile()
        return nil
      case .ended: return nil
      }
    }
    server?.stop(by: deadline)
  }

  func setBacklog(_ backlog: Int32) { server?.setBacklog(backlog) }

  /// Whether new connections are taken; those that are not wait in the listener's queue.
  func setAccepting(_ isAccepting: Bool) {
    if isAccepting { server?.resume() } else { server?.pause() }
  }

  private var server: SocketServer? {
    life.with { if case .up(let server) = $0 { server } else { nil } }
  }

  // MARK: - Coming back

  private func comeBack(_ absence: Absence) {
    timers.schedule(at: clock.now + absence.time) { [weak self] in self?.start(absence) }
  }

  private func start(_ absence: Absence) {
    guard life.with({ if case .down = $0 { true } else { false } }) else { return }
    do throws(StreamError) {
      let listener = try Listener(address, backlog: bus.manners.backlog)
      find(bus.daemonStarted(), absence)
      serve(on: listener)
      journal.record(nil, "mux-back")
    } catch {
      // Somebody else took the place in between; it may be free again in a moment.
      journal.record(nil, "mux-not-back", ["reason": .string(error.sentence)])
      var again = absence
      again.time = .seconds(1)
      comeBack(again)
    }
  }

  private func find(_ phones: [VirtualPhone], _ absence: Absence) {
    for (index, phone) in phones.enumerated() {
      let isHidden = phones.count - index <= absence.lost
      guard absence.apart > .zero else {
        bus.discover(phone, isHidden: isHidden)
        continue
      }
      timers.schedule(at: clock.now + absence.apart * index) { [bus] in bus.discover(phone, isHidden: isHidden) }
    }
  }

  private func serve(on listener: Listener) {
    let server = SocketServer("mux", on: listener) { [bus, journal] socket in
      MuxConnection(socket: socket, bus: bus, journal: journal).serve()
    }
    let isWanted = life.with { life in
      if case .ended = life { return false }
      life = .up(server)
      return true
    }
    if !isWanted { server.stop(by: .after(.seconds(1))) }
  }
}
