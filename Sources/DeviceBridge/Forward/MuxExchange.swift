import Glibc
import Transport
import Wire

/// One request to the daemon and its first reply, on a poller's thread: begun, told of events, never waiting.
final class MuxExchange {
  enum Outcome {
    /// The reply's payload; the connection goes on, and its events are to be handed to somebody.
    case reply([UInt8], End)
    /// The daemon's backlog is full, or it hung up before a word: worth another try.
    case busy(MuxFailure)
    case failed(MuxFailure)
  }

  private let poller: Poller
  private let message: [UInt8]
  private let report: (Outcome) -> Void
  private var targets: ArraySlice<SocketAddress>
  private var connection: End?
  private var isConnected = false
  private var sent = 0
  private var inbox = MuxInbox()

  /// - Parameters:
  ///   - message: the whole request, as `message(_:)` makes it.
  ///   - report: called once, perhaps before `begin` returns, and not after `end`.
  init(_ message: [UInt8], to targets: [SocketAddress], poller: Poller, report: @escaping (Outcome) -> Void) {
    self.message = message
    self.targets = targets[...]
    self.poller = poller
    self.report = report
  }

  static func message(_ request: [String: Plist]) -> [UInt8] {
    MuxFrame(.dictionary(MuxCall.signed(request)), tag: 1).bytes
  }

  /// - Parameter line: a connection to the daemon that is there already; a fresh one is made where it turns out to have
  ///   ended.
  func begin(over line: End? = nil) {
    guard let line else { return tryNext(otherwise: .failed(.nonsense("no address is known for it"))) }
    connection = line
    isConnected = true
    poller.hand(line.token) { [weak self] in self?.note($0) }
    do throws(MuxFailure) {
      try send(on: line.socket)
    } catch {
      begin()
    }
  }

  /// Ends it without a report.
  func end() {
    connection?.close(poller)
    connection = nil
  }

  private func tryNext(otherwise failure: Outcome) {
    end()
    guard let target = targets.popFirst() else { return report(failure) }
    sent = 0
    do throws(StreamError) {
      let line = try End(connectingTo: target, poller) { [weak self] in self?.note($0) }
      connection = line
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
    guard let line = connection else { return }
    do throws(MuxFailure) {
      try send(on: line.socket)
      guard sent == message.count, let reply = try inbox.next(on: line.socket) else { return }
      connection = nil
      report(.reply(reply, line))
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
