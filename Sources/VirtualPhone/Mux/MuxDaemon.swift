import Transport
import Wire

/// The daemon around the bus: its socket, and its comings and goings.
final class MuxDaemon: Sendable {
  private enum Life {
    case up(SocketServer)
    case down
    case ended
  }

  /// As bound at the start; every later life listens on the same.
  let address: SocketAddress
  private let bus: MuxBus
  private let journal: Journal
  private let timers: PhoneTimers
  private let clock: any PhoneClock
  private let life = Guarded(Life.down)

  init(on listener: Listener, bus: MuxBus, journal: Journal, timers: PhoneTimers, clock: any PhoneClock) {
    address = listener.address
    self.bus = bus
    self.journal = journal
    self.timers = timers
    self.clock = clock
    serve(on: listener)
  }

  /// Quits as the daemon does when it is told to: every connection ends, the socket goes; then comes back.
  ///
  /// - Parameter away: phone time until it listens again. The phones then have numbers from 1 again.
  func quit(for away: Duration) {
    let server = life.with { life -> SocketServer? in
      guard case .up(let server) = life else { return nil }
      life = .down
      return server
    }
    guard let server else { return }
    server.stop(by: .after(.seconds(1)))
    comeBack(after: away)
  }

  /// Ends for good.
  func stop(by deadline: Deadline) {
    let server = life.with { life -> SocketServer? in
      defer { life = .ended }
      if case .up(let server) = life { return server }
      return nil
    }
    server?.stop(by: deadline)
  }

  private func comeBack(after away: Duration) {
    timers.schedule(at: clock.now + away) { [weak self] in self?.start() }
  }

  private func start() {
    guard life.with({ if case .down = $0 { true } else { false } }) else { return }
    do throws(StreamError) {
      let listener = try Listener(address)
      bus.renumber()
      serve(on: listener)
    } catch {
      // Somebody else took the place in between; it may be free again in a moment.
      journal.record(nil, "mux-not-back", ["reason": .string(error.sentence)])
      comeBack(after: .seconds(1))
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
