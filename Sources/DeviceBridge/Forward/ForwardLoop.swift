import Glibc
import Transport
import Wire

/// The one thread that drives all connections of a forward: accepts clients, asks the daemon for the phone's ports,
/// and moves the bytes.
final class ForwardLoop {
  struct Door {
    let listener: Listener
    /// The phone's port behind it.
    let port: UInt16
    var token: Poller.Token?
  }

  /// How long nobody is accepted after this host ran out of descriptors.
  private static let breath = Duration.milliseconds(100)

  let udid: UDID
  let mux: MuxAddress
  let targets: [SocketAddress]
  let limits: Forward.Limits
  let poller: Poller
  let alarms = Alarms()
  let pipes: PipeStore
  let eyes = ClientEyes()
  let follower: PhoneFollower
  let desk: ConnectDesk
  let spare: SpareLine
  /// How many more may ask the daemon now.
  var turns = MuxPatience.atOnce
  private let report: (Forward.Event) -> Void
  private var doors: [Door]
  private var grievances: Grievances
  private var connections: [ObjectIdentifier: ForwardConnection] = [:]
  /// Those who wait for their turn, or for the phone.
  private var waiting: [ForwardConnection] = []
  /// Those who had more to move than one turn allows.
  private var busy: [ForwardConnection] = []
  private var isStopped = false
  private lazy var breather = Breather { [unowned self] in openDoors() }

  init(_ plan: Forward.Plan, waker: Waker, report: @escaping (Forward.Event) -> Void) throws(StreamError) {
    udid = plan.udid
    mux = plan.mux
    targets = plan.targets
    limits = plan.limits
    self.report = report
    doors = plan.doors.map { Door(listener: $0.listener, port: $0.port) }
    grievances = Grievances(spacing: plan.limits.spacing)
    poller = try Poller()
    pipes = try PipeStore()
    desk = ConnectDesk(udid, at: mux)
    spare = SpareLine(to: targets, poller: poller)
    follower = PhoneFollower(udid, mux: mux, targets: targets, poller: poller, alarms: alarms)
    _ = try poller.watchInput(waker.fd) { [unowned self] _ in isStopped = true }
  }

  /// Works until the waker is woken, then ends everything.
  func run() {
    follower.changed = { [unowned self] in phoneChanged($0) }
    follower.begin()
    openDoors()
    while !isStopped {
      poller.wait(until: busy.isEmpty ? alarms.next : .after(.zero))
      alarms.ring()
      let turn = busy
      busy = []
      for connection in turn { connection.move() }
      serve()
      // While nobody waits for the daemon.
      if follower.deviceID != nil, turns == MuxPatience.atOnce { spare.prepare() }
    }
    spare.drop()
    follower.end()
    for connection in connections.values { connection.close(reset: true) }
    for door in doors { door.listener.close() }
  }

  // MARK: - For connections

  func queue(_ connection: ForwardConnection) { waiting.append(connection) }

  func comeBack(to connection: ForwardConnection) { busy.append(connection) }

  func forget(_ connection: ForwardConnection) {
    connections[ObjectIdentifier(connection)] = nil
    waiting.removeAll { $0 === connection }
    openDoors()
  }

  func complain(_ error: PhoneError) {
    if grievances.isNews(error) { report(.trouble(error)) }
  }

  /// Somebody was told "refused" a moment ago.
  func complainOfRefusal(at port: UInt16) {
    switch follower.sight {
    case .here: complain(.refused(udid, port: port))
    case .looking, .away: complain(.absent(udid))
    case .deaf(let error): complain(error)
    }
  }

  /// A connection has become one that may make room for another.
  func roomMayBeMade() { openDoors() }

  /// A port of the phone has answered.
  func reached(_ port: UInt16) { grievances.isWell(port: port) }

  // MARK: - Clients

  private func openDoors() {
    for index in doors.indices where doors[index].token == nil {
      let (listener, port) = (doors[index].listener, doors[index].port)
      doors[index].token = try? poller.watchInput(listener.fd) { [unowned self] _ in accept(listener, port) }
    }
  }

  /// Whoever comes now waits in the kernel's backlog.
  private func closeDoors() {
    for index in doors.indices {
      if let token = doors[index].token { poller.forget(token, of: doors[index].listener.fd) }
      doors[index].token = nil
    }
  }

  private func accept(_ listener: Listener, _ port: UInt16) {
    guard connections.count < limits.connections || makeRoom() else { return closeDoors() }
    do throws(StreamError) {
      guard let client = try listener.acceptNow() else { return }
      client.noticeDeadPeers()
      let connection = ForwardConnection(client, to: port, in: self)
      connections[ObjectIdentifier(connection)] = connection
      connection.wait()
    } catch {
      guard case .system(let code) = error else { return }
      complain(.host(code: code, step: "accepting a connection"))
      closeDoors()
      alarms.set(breather, at: .after(Self.breath))
    }
  }

  /// Ends a connection that probably nobody waits for any more.
  private func makeRoom() -> Bool {
    guard let idle = connections.values.first(where: \.isIdle) else { return false }
    idle.close(reset: false)
    return true
  }

  /// Gives those who wait what they wait for.
  private func serve() {
    while let first = waiting.first {
      switch follower.sight {
      case .looking: return
      case .here(let phone):
        guard turns > 0 else { return }
        waiting.removeFirst()
        first.ask(phone)
      case .away: first.turnAway(.absent(udid))
      case .deaf(let error): first.turnAway(error)
      }
    }
  }

  // MARK: - The phone

  private func phoneChanged(_ before: PhoneFollower.Sight) {
    let deviceID = follower.deviceID
    switch follower.sight {
    // Nothing is known of the phone; if the daemon is gone, so are its connections.
    case .looking: return
    case .deaf(let error): return complain(error)
    case .here: if grievances.isBack() { report(.back) }
    case .away: complain(.absent(udid))
    }
    for connection in connections.values where connection.deviceID != deviceID { connection.phoneLeft() }
  }
}

/// An alarm that is nobody's in particular.
private final class Breather: Alarmed {
  private let act: () -> Void
  init(_ act: @escaping () -> Void) { self.act = act }
  func alarm() { act() }
}

extension Socket {
  /// Asks a silent far end now and then whether it is still there; a machine that was switched off is not.
  fileprivate func noticeDeadPeers() {
    var on: Int32 = 1
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, socklen_t(MemoryLayout<Int32>.size))
  }
}
