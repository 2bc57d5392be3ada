import Glibc
import Transport
import Wire

/// One request to the daemon and its first reply, on a poller's thread: begun, told of events, never waiting.
final class MuxExchange {
  enum Outcome {
    /// The reply; the connection goes on, and its events are to be handed to somebody.
    case reply(Plist, Socket, Poller.Token)
    /// The daemon's backlog is full, or it hung up before a word: worth another try.
    case busy(MuxFailure)
    case failed(MuxFailure)
  }

  private let poller: Poller
  private let message: [UInt8]
  private let report: (Outcome) -> Void
  private var targets: ArraySlice<SocketAddress>
  private var connection: (socket: Socket, token: Poller.Token)?
  private var isConnected = false
  private var sent = 0
  private var inbox = MuxInbox()

  /// - Parameter report: called once, perhaps before `begin` returns, and not after `end`.
  init(
    _ request: [String: Plist], to targets: [SocketAddress], poller: Poller, report: @escaping (Outcome) -> Void
  ) {
    self.targets = targets[...]
    self.poller = poller
    self.report = report
    message = MuxFrame(.dictionary(MuxCall.signed(request)), tag: 1).bytes
  }

  func begin() { tryNext(otherwise: .failed(.nonsense("no address is known for it"))) }

  /// Ends it without a report.
  func end() {
    guard let (socket, token) = connection else { return }
    connection = nil
    poller.forget(token)
    socket.close()
  }

  private func tryNext(otherwise failure: Outcome) {
    end()
    guard let target = targets.popFirst() else { return report(failure) }
    do throws(StreamError) {
      let socket = try Socket.begin(connectingTo: target)
      do throws(StreamError) {
        connection = (socket, try poller.watch(socket.fd) { [weak self] in self?.note($0) })
      } catch {
        socket.close()
        throw error
      }
      isConnected = false
      // A UNIX socket is connected by now, and takes the request at once.
      if case .unix = target { goOn() }
    } catch {
      tryNext(otherwise: error == .system(EAGAIN) ? .busy(.stream(error)) : .failed(.stream(error)))
    }
  }

  private func note(_ readiness: Readiness) {
    if isConnected || readiness.canWrite { goOn() }
  }

  private func goOn() {
    guard let (socket, token) = connection else { return }
    do throws(MuxFailure) {
      try send(on: socket)
      guard sent == message.count, let reply = try inbox.next(on: socket) else { return }
      connection = nil
      report(.reply(reply, socket, token))
    } catch .stream(.closed) {
      end()
      report(.busy(.stream(.closed)))
    } catch .stream(let error) where !isConnected {
      tryNext(otherwise: .failed(.stream(error)))
    } catch {
      end()
      report(.failed(error))
    }
  }

  private func send(on socket: Socket) throws(MuxFailure) {
    if !isConnected {
      let failure = socket.connectFailure
      guard failure == 0 else { throw .stream(.system(failure)) }
      isConnected = true
    }
    guard sent < message.count else { return }
    do throws(StreamError) { sent += try socket.writeNow(message[sent...]) } catch { throw .stream(error) }
  }
}

/// How often, and with which pauses, the daemon is asked again.
enum MuxPatience {
  /// Before the reply's first byte the end of the connection may be the full backlog's doing.
  static let attempts = 4
  /// Random, so that many who were turned away at once do not come back at once.
  static var pause: Duration { .milliseconds(Int.random(in: 5...50)) }
  /// How long an unanswered request keeps others waiting: the daemon's own answers take half a millisecond.
  static let turn = Duration.milliseconds(5)
  /// At once: usbmuxd's backlog is five.
  static let atOnce = 4
}
