import Glibc
import Transport
import Wire

/// What the C libraries' calls on a lane's thread belong to: the phone, the call, and every descriptor they opened.
///
/// The functions in C/ find it through the thread. It is how a call that hangs inside a library is ended from outside.
final class LaneContext: Sendable {
  private struct State {
    var descriptors: Set<Int32> = []
    var last: Int32 = -1
    var call: UInt64 = 0
    var deadline = Deadline.never
    var limit = Duration.zero
    var ended: PhoneError?
    var wake = Latch()
    var leash = Leash()
    var endings: [UInt64: @Sendable () -> Void] = [:]
    var nextEnding: UInt64 = 0
    var record: PairRecord?
    var desk: PairingDesk?
    var number: Int?
    var connectFailure: PhoneError?
    var token: String?
  }
  let route: PhoneRoute
  /// How long a tunnel that nobody uses stays open.
  let tunnelIdle: Duration
  private let state = Guarded(State())

  init(_ route: PhoneRoute, tunnelIdle: Duration = .seconds(60)) {
    self.route = route
    self.tunnelIdle = tunnelIdle
  }

  var udid: UDID { route.udid }
  var deadline: Deadline { state.with { $0.deadline } }
  /// The time that the call was given.
  var limit: Duration { state.with { $0.limit } }

  // MARK: - The call under way

  func begin(by deadline: Deadline) -> UInt64 {
    state.with { state in
      state.call += 1
      state.deadline = deadline
      state.limit = deadline.remaining
      state.ended = nil
      state.wake = Latch()
      state.leash = Leash()
      return state.call
    }
  }

  /// What the call has opened goes on without a deadline, until it is cut.
  func goOn() { state.with { ($0.deadline, $0.limit) = (.never, .zero) } }

  /// Ends everything that the call waits for, if it is still that call: each wait of it fails at once.
  func cut(_ call: UInt64, _ reason: PhoneError) {
    let endings: [@Sendable () -> Void] = state.with { state in
      guard state.call == call else { return [] }
      if state.ended == nil { state.ended = reason }
      for fd in state.descriptors { _ = shutdown(fd, Int32(SHUT_RDWR)) }
      state.leash.cut()
      state.wake.open()
      return Array(state.endings.values)
    }
    for ending in endings { ending() }
  }

  /// Runs the body; `ending` makes its waits fail, should the call be cut meanwhile.
  func holding<T>(
    _ ending: @escaping @Sendable () -> Void, _ body: () throws(PhoneError) -> T
  ) throws(PhoneError) -> T {
    let (number, hasEnded) = state.with { state in
      state.nextEnding += 1
      state.endings[state.nextEnding] = ending
      return (state.nextEnding, state.ended != nil)
    }
    defer { state.with { _ = $0.endings.removeValue(forKey: number) } }
    if hasEnded { ending() }
    return try body()
  }

  /// Holds what our own requests to the daemon wait on.
  var leash: Leash { state.with { $0.leash } }

  /// Why the call was cut; nil while it may go on.
  var ended: PhoneError? { state.with { $0.ended } }

  /// The same, naming what the call was about when it was cut.
  func ended(at step: String) -> PhoneError? {
    guard case .silent(let udid, _, let limit) = ended else { return ended }
    return .silent(udid, step: step, limit: limit)
  }

  /// Waits, unless the call is cut.
  func pause(_ wait: Duration) {
    let (wake, deadline) = state.with { ($0.wake, $0.deadline) }
    _ = wake.wait(until: min(deadline, .after(wait)))
  }

  // MARK: - Descriptors

  /// A connection to the phone, blocking and known here, as the C library takes it.
  ///
  /// - Returns: the descriptor, or a negative errno; the reason is then in `connectFailure`.
  func connect(port: UInt16) -> Int32 {
    let (deadline, ended, leash) = state.with { ($0.deadline, $0.ended, $0.leash) }
    if ended != nil { return -ETIMEDOUT }
    do throws(PhoneError) {
      let (socket, phone) = try route.connection(port: port, by: deadline, leash)
      leash.letGo()
      state.with { $0.number = phone.deviceID }
      // The library waits with select, which ends the process at a number beyond its sets.
      guard socket.fd < FD_SETSIZE else { throw .host(code: EMFILE, step: "opening a connection to the phone") }
      return state.with { state in
        let fd = socket.release()
        // With a blocking descriptor the library's handshake waits in the kernel, not in naps of 100 ms.
        _ = fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK)
        state.descriptors.insert(fd)
        state.last = fd
        if state.ended != nil { _ = shutdown(fd, Int32(SHUT_RDWR)) }
        state.connectFailure = nil
        return fd
      }
    } catch {
      state.with { $0.connectFailure = error }
      return switch error {
      case .refused: -ECONNREFUSED
      case .absent, .networkOnly: -ENODEV
      case .silent: -ETIMEDOUT
      case .noMux, .deadMux, .notASocket, .muxForbidden, .muxSilent, .host, .untrusted, .lost, .tls, .badReply,
        .lockdown,
        .launchRefused, .ended, .badRequest:
        -EIO
      }
    }
  }

  /// A connection to the phone that no library has a part in; the caller closes it.
  func connection(port: UInt16) throws(PhoneError) -> Socket {
    let (deadline, leash) = state.with { ($0.deadline, $0.leash) }
    if let ended { throw ended }
    let (socket, phone) = try route.connection(port: port, by: deadline, leash)
    leash.letGo()
    state.with { $0.number = phone.deviceID }
    return socket
  }

  /// The daemon's number for the phone at the newest connection.
  var number: Int? { state.with { $0.number } }

  /// Closes under the lock, so that a cut can't hit a descriptor that has just become somebody else's.
  func disconnect(_ fd: Int32) -> Int32 {
    state.with { state in
      state.descriptors.remove(fd)
      return close(fd)
    }
  }

  /// Ends one connection; its descriptor stays until the library closes it.
  func shut(_ fd: Int32) { state.with { if $0.descriptors.contains(fd) { _ = shutdown(fd, Int32(SHUT_RDWR)) } } }

  /// The newest connection's.
  var lastDescriptor: Int32 { state.with { $0.last } }

  var openDescriptors: Int { state.with { $0.descriptors.count } }

  // MARK: - What the library is given, and what it drops

  /// The record that handshakes use: without one, none may begin.
  var record: PairRecord? {
    get { state.with { $0.record } }
    set { state.with { $0.record = newValue } }
  }

  /// There only while a person has asked to pair or to unpair.
  var desk: PairingDesk? {
    get { state.with { $0.desk } }
    set { state.with { $0.desk = newValue } }
  }

  /// Why the last connection did not come about.
  var connectFailure: PhoneError? { state.with { $0.connectFailure } }

  func fail(_ reason: PhoneError) { state.with { $0.connectFailure = reason } }

  /// The phone's own word in its last refusal; the library keeps only numbers, and none for words it does not know.
  var token: String? {
    get { state.with { $0.token } }
    set { state.with { $0.token = newValue } }
  }

  func forgetFailures() {
    state.with {
      $0.token = nil
      $0.connectFailure = nil
    }
  }
}

extension LaneContext {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// The context of the calling thread; nil on threads that are no lane's.
  static var current: LaneContext? {
    pthread_getspecific(key).map { Unmanaged<LaneContext>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Makes this the calling thread's context while the body runs.
  func onThisThread(_ body: () -> Void) {
    pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
    body()
    pthread_setspecific(Self.key, nil)
  }
}
