import Glibc
import Transport
import Wire

/// One client, from its acceptance to its end; lives on the loop's thread.
final class ForwardConnection: Alarmed {
  private enum Stage {
    /// For its turn, or for the phone.
    case waiting
    /// Before the daemon is asked once more.
    case pausing
    case asking(MuxExchange)
    case moving(Traffic)
    /// The phone's side is closed, and the client is given time to close as well.
    case parting(Poller.Token)
    /// The phone's side broke: a reset follows what the client has still to get.
    case breaking(Poller.Token)
    /// Closed; whether "refused" was the truth shows in a moment.
    case doubting
    case over
  }

  /// A client that gets an end, or has a full buffer before a reset, has so much time.
  private static let partingTime = Duration.seconds(2)
  private static let doubtTime = Duration.milliseconds(100)

  private unowned let loop: ForwardLoop
  private let client: Socket
  private let port: UInt16
  private let deadline: Deadline
  private var stage = Stage.waiting
  private var hasTurn = false
  private var hangUps = 0
  private var partingEnd = Deadline.never
  /// The number under which the phone was asked for.
  private(set) var deviceID = 0

  init(_ client: Socket, to port: UInt16, in loop: ForwardLoop) {
    self.client = client
    self.port = port
    self.loop = loop
    deadline = .after(loop.limits.connecting)
  }

  /// Goes into the queue, with a limit to the time until the phone's port answers.
  func wait() {
    stage = .waiting
    loop.alarms.set(self, at: deadline)
    loop.queue(self)
  }

  /// Asks the daemon for the phone's port: this connection's turn has come.
  func ask(_ phone: ListedPhone) {
    guard case .waiting = stage else { return }
    deviceID = phone.deviceID
    hasTurn = true
    loop.turns -= 1
    let message = loop.desk.request(for: phone, port: port)
    let exchange = MuxExchange(message, to: loop.targets, poller: loop.poller) { [unowned self] in take($0) }
    stage = .asking(exchange)
    loop.alarms.set(self, at: min(deadline, .after(MuxPatience.turn)))
    exchange.begin(over: loop.spare.take())
  }

  /// The client sees a reset, which it never takes for the phone's answer.
  func turnAway(_ error: PhoneError) {
    close(reset: true)
    guard case .refused = error else { return loop.complain(error) }
    // What waits at the daemon when the cable is pulled is "refused" a moment before the phone is reported gone.
    stage = .doubting
    loop.alarms.set(self, at: .after(Self.doubtTime))
  }

  /// Ends it in whatever stage it is.
  func close(reset: Bool) {
    giveTurn()
    switch stage {
    case .asking(let exchange): exchange.end()
    case .moving(let traffic): traffic.close(loop.poller)
    case .parting(let token), .breaking(let token): loop.poller.forget(token)
    case .waiting, .pausing: break
    case .doubting, .over: return
    }
    stage = .over
    loop.alarms.cancel(self)
    if reset { client.reset() } else { client.close() }
    loop.forget(self)
  }

  /// The phone has gone, or has another number now.
  func phoneLeft() {
    if case .moving(let traffic) = stage { loop.alarms.set(self, at: traffic.phoneLeft()) }
  }

  /// Whether it may make room for another: the client has finished sending, and nobody is known to wait.
  var isIdle: Bool {
    if case .moving(let traffic) = stage { traffic.clientHasEnded && traffic.presence != .present } else { false }
  }

  func alarm() {
    switch stage {
    case .waiting: turnAway(late)
    case .pausing: deadline.hasPassed ? turnAway(late) : wait()
    case .asking:
      if deadline.hasPassed { return turnAway(late) }
      giveTurn()
      loop.alarms.set(self, at: deadline)
    case .moving(let traffic):
      follow(traffic.lookAround(loop.eyes), traffic)
      if isIdle { loop.roomMayBeMade() }
    case .parting: close(reset: false)
    case .breaking: resetWhenDelivered()
    case .doubting:
      stage = .over
      loop.complainOfRefusal(at: port)
    case .over: break
    }
  }

  // MARK: - The daemon's answer

  private var step: String { "connecting to its port \(port)" }
  private var late: PhoneError { .silent(loop.udid, step: step, limit: loop.limits.connecting) }

  private func giveTurn() {
    if hasTurn { loop.turns += 1 }
    hasTurn = false
  }

  private func take(_ outcome: MuxExchange.Outcome) {
    giveTurn()
    switch outcome {
    case .reply(let reply, let phone): take(reply, phone)
    case .busy(let failure): tryAgain(after: failure)
    case .failed(let failure):
      // Where the daemon has just gone, whether it comes back is found out already.
      loop.follower.catchUp()
      loop.follower.sight == .looking ? wait() : turnAway(failure.error(at: loop.mux))
    }
  }

  private func tryAgain(after failure: MuxFailure) {
    // A full backlog empties; a daemon that hangs up again and again has its reasons.
    if failure == .stream(.closed) { hangUps += 1 }
    guard hangUps < MuxPatience.attempts else { return turnAway(.lost(loop.udid, step: step)) }
    stage = .pausing
    loop.alarms.set(self, at: min(deadline, .after(MuxPatience.pause)))
  }

  private func take(_ reply: [UInt8], _ phone: End) {
    // First the daemon's news: the number may have become another phone's, and then not one byte goes there.
    loop.follower.catchUp()
    let isCurrent = loop.follower.deviceID == deviceID
    do throws(PhoneError) {
      try loop.desk.judge(reply, port: port)
      if isCurrent { return start(phone) }
      phone.close(loop.poller)
      wait()
    } catch {
      phone.close(loop.poller)
      isCurrent ? turnAway(error) : wait()
    }
  }

  // MARK: - Bytes

  private func start(_ phone: End) {
    let token: Poller.Token
    do throws(StreamError) {
      token = try loop.poller.watch(client.fd) { [unowned self] in note($0, ofClient: true) }
    } catch {
      phone.close(loop.poller)
      return turnAway(.host(code: ENOMEM, step: "watching a connection"))
    }
    loop.poller.hand(phone.token) { [unowned self] in note($0, ofClient: false) }
    loop.alarms.cancel(self)
    stage = .moving(
      Traffic(client: End(client, token), phone: phone) { [unowned self] in
        loop.follower.catchUp()
        return loop.follower.deviceID == deviceID
      })
    loop.reached(port)
    move()
  }

  private func note(_ readiness: Readiness, ofClient: Bool) {
    switch stage {
    case .moving(let traffic):
      if ofClient { traffic.client.note(readiness) } else { traffic.phone.note(readiness) }
      move()
    case .parting: discard()
    case .breaking: resetWhenDelivered()
    case .waiting, .pausing, .asking, .doubting, .over: break
    }
  }

  /// Moves bytes both ways as far as that goes now.
  func move() {
    if case .moving(let traffic) = stage { follow(traffic.move(loop.pipes), traffic) }
  }

  private func follow(_ result: Traffic.Result, _ traffic: Traffic) {
    switch result {
    case .goesOn(let look): if let look { loop.alarms.set(self, at: look) }
    case .hasMore: loop.comeBack(to: self)
    case .over: close(reset: false)
    case .noPipe(let code): turnAway(.host(code: code, step: "opening a pipe"))
    case .phoneClosed:
      leave(traffic, for: .parting(traffic.client.token))
      discard()
    case .phoneBroke:
      leave(traffic, for: .breaking(traffic.client.token))
      resetWhenDelivered()
    }
  }

  private func leave(_ traffic: Traffic, for next: Stage) {
    traffic.phone.close(loop.poller)
    stage = next
    partingEnd = .after(Self.partingTime)
    loop.alarms.set(self, at: partingEnd)
  }

  /// What the client still sends goes nowhere, but closing over it would cost it the phone's last words.
  private func discard() {
    while true {
      let count = recv(client.fd, nil, 1 << 20, Int32(MSG_TRUNC | MSG_DONTWAIT))
      if count > 0 || (count < 0 && errno == EINTR) { continue }
      if count < 0, errno == EAGAIN { return }
      return close(reset: false)
    }
  }

  /// A reset overtakes what was sent before it, so that goes first.
  private func resetWhenDelivered() {
    if client.hasUnacknowledged, !partingEnd.hasPassed {
      loop.alarms.set(self, at: min(partingEnd, .after(.milliseconds(10))))
    } else {
      close(reset: true)
    }
  }
}

extension Socket {
  /// Whether the far end of a TCP connection has still to confirm something.
  fileprivate var hasUnacknowledged: Bool {
    var count: Int32 = 0
    let sendQueue: UInt = 0x5411
    return ioctl(fd, sendQueue, &count) == 0 && count > 0
  }
}
