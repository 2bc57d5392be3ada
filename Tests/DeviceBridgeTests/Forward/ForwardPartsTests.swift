import Testing
import Transport
import Wire

@testable import DeviceBridge

@Suite struct `what a forward complains of` {
  private let udid = UDID("00008101-000A1B2C3D4E001E")
  private let start = ContinuousClock.now

  @Test func `is told once for each kind and port, not once for each client`() {
    var grievances = Grievances(spacing: .seconds(60))
    func tell(_ error: PhoneError, _ at: ContinuousClock.Instant) -> Bool { grievances.isNews(error, now: at) }

    #expect(tell(.refused(udid, port: 1), start))
    #expect(!tell(.refused(udid, port: 1), start + .seconds(600)))
    #expect(tell(.refused(udid, port: 2), start))
    #expect(tell(.absent(udid), start))
  }

  @Test func `is told again when it has been over, but no more than once a minute`() {
    var grievances = Grievances(spacing: .seconds(60))
    func tell(_ error: PhoneError, _ at: ContinuousClock.Instant) -> Bool { grievances.isNews(error, now: at) }
    #expect(tell(.refused(udid, port: 1), start))

    grievances.isWell(port: 2)
    #expect(!tell(.refused(udid, port: 1), start + .seconds(61)))
    grievances.isWell(port: 1)
    #expect(!tell(.refused(udid, port: 1), start + .seconds(59)))
    #expect(tell(.refused(udid, port: 1), start + .seconds(61)))
  }

  @Test func `ends with the phone's return, which is told where its absence was`() {
    var grievances = Grievances(spacing: .seconds(60))

    let unasked = grievances.isBack()
    let first = grievances.isNews(.absent(udid), now: start)
    let (back, again) = (grievances.isBack(), grievances.isBack())
    let flap = grievances.isNews(.absent(udid), now: start + .seconds(1))
    let quiet = grievances.isBack()

    #expect((unasked, again, flap, quiet) == (false, false, false, false))
    #expect(first && back)
  }
}

@Suite struct `the holder of a port` {
  @Test func `is looked for among the sockets that listen, on whatever address`() {
    let table = """
        sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
         0: 0100007F:1FA4 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1111 1 0 100 0 0 10 0
         1: 00000000:1FA4 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2222 1 0 100 0 0 10 0
         2: 0100007F:1FA4 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 3333 1 0 100 0 0 10 0
         3: 0100007F:1FA5 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4444 1 0 100 0 0 10 0
      a line that is cut off
      """

    #expect(PortHolder.listeners(on: 8100, in: table) == ["1111", "2222"])
    #expect(PortHolder.listeners(on: 8102, in: table).isEmpty)
  }
}

@Suite struct `alarms` {
  private final class Sleeper: Alarmed {
    var rings = 0
    func alarm() { rings += 1 }
  }

  @Test func `ring once, when their time has come, for those who still want it`() {
    let alarms = Alarms()
    let (due, later, cancelled) = (Sleeper(), Sleeper(), Sleeper())
    alarms.set(due, at: .after(.zero))
    alarms.set(later, at: .after(.seconds(600)))
    alarms.set(cancelled, at: .after(.zero))
    alarms.cancel(cancelled)

    alarms.ring()
    alarms.ring()

    #expect((due.rings, later.rings, cancelled.rings) == (1, 0, 0))
    #expect(!alarms.next.hasPassed)
  }

  @Test func `can be set later than before`() {
    let alarms = Alarms()
    let sleeper = Sleeper()
    alarms.set(sleeper, at: .after(.zero))
    alarms.set(sleeper, at: .after(.seconds(600)))

    alarms.ring()

    #expect(sleeper.rings == 0)
  }
}

@Suite struct `the line to the daemon that is kept ready` {
  private let folder: Folder
  private let daemon: Listener
  private let poller: Poller
  private let spare: SpareLine

  init() throws {
    folder = try Folder()
    let address = SocketAddress.unix(path: "\(folder.path)/mux")
    daemon = try Listener(address)
    poller = try Poller()
    spare = SpareLine(to: [address], poller: poller)
  }

  @Test func `is there for one client, and made anew for the next`() throws {
    spare.prepare()
    let first = try #require(spare.take())
    #expect(spare.take() == nil)

    spare.prepare()
    let second = try #require(spare.take())

    #expect(first.token != second.token)
    for line in [first, second] { line.close(poller) }
    daemon.close()
  }

  @Test func `is not made again and again for a daemon that ends it`() throws {
    spare.prepare()
    try #require(daemon.accept()).close()
    poller.wait(until: .patient)

    spare.prepare()
    #expect(spare.take() == nil)

    // Now somebody has asked.
    spare.prepare()
    #expect(spare.take() != nil)
    daemon.close()
  }
}
