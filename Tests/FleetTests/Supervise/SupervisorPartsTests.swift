import DeviceBridge
import Glibc
import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `the schedule` {
  @Test func `gives bodies in the order of their moments, each once`() {
    var schedule = Schedule()
    var random = SeededRandom(seed: 7)
    let moments = (0..<200).map { (UDID("\($0)"), Duration.seconds(Int.random(in: 0..<50, using: &random))) }
    for (udid, due) in moments { schedule.set(udid, due) }
    for (udid, due) in moments { schedule.set(udid, due + .seconds(1)) }
    schedule.set(UDID("0"), nil)

    var given: [(UDID, Duration)] = []
    for second in 0..<60 {
      while let udid = schedule.pop(at: .seconds(second)) { given.append((udid, .seconds(second))) }
    }

    #expect(given.count == 199)
    let expected = Dictionary(uniqueKeysWithValues: moments)
    for (udid, moment) in given { #expect(expected[udid].map { $0 + .seconds(1) } == moment) }
    #expect(schedule.next() == nil)
  }
}

@Suite struct `rows on their way to those who are told` {
  private func row(_ seq: Int?, _ words: OutcomeWords) -> OutcomeReport {
    OutcomeReport(seq: seq, at: .zero, body: "hall", udid: UDID("x"), words: words)
  }

  @Test func `are told with their numbers once they are stored`() {
    var teller = RowTeller()
    teller.made([row(nil, OutcomeWords(.up))])

    #expect(teller.stored(row(1, OutcomeWords(.up)))?.seq == 1)
  }

  @Test func `are told at once when the record takes none, and not again later`() {
    var teller = RowTeller()
    teller.made([row(nil, OutcomeWords(.up)), row(nil, OutcomeWords(.revived))])

    #expect(teller.notStored().map(\.seq) == [nil, nil])
    #expect(teller.notStored().isEmpty)
    #expect(teller.stored(row(1, OutcomeWords(.up))) == nil)
    #expect(teller.stored(row(2, OutcomeWords(.revived))) == nil)
    teller.made([row(nil, OutcomeWords(.up))])
    #expect(teller.stored(row(3, OutcomeWords(.up)))?.seq == 3)
  }
}

@Suite struct `a supervisor's lock` {
  @Test func `lets one in for a record, through whichever link, and says who it is`() throws {
    let scratch = try Scratch()
    let path = "\(scratch.path)/fleet.sqlite"
    try Scratch.write("", to: path)
    #expect(symlink(path, "\(scratch.path)/link") == 0)
    guard case .taken(let lock) = try SupervisorLock.take(record: path, as: Holder(pid: 4711, user: "anna")) else {
      Issue.record("nobody has it")
      return
    }

    guard case .held(let holder) = try SupervisorLock.take(record: "\(scratch.path)/link") else {
      Issue.record("anna has it")
      return
    }
    #expect(holder.pid == 4711)
    lock.release()
    guard case .taken = try SupervisorLock.take(record: path) else {
      Issue.record("it was let go of")
      return
    }
  }
}

@Suite(.serialized) struct `the service manager` {
  /// The manager's end of the socket.
  private final class Manager: Sendable {
    let fd: Int32
    let path: String
    init(_ folder: String) throws {
      path = "\(folder)/notify"
      fd = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
      let size = socklen_t(MemoryLayout<sockaddr_un>.size)
      let code = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(fd, $0, size) }
      }
      guard code == 0 else { throw Trouble("no socket") }
    }
    deinit { close(fd) }

    func messages() -> [String] {
      var found: [String] = []
      var bytes = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = recv(fd, &bytes, bytes.count, 0)
        if count <= 0 { return found }
        found.append(String(decoding: bytes.prefix(count), as: UTF8.self))
      }
    }
  }

  @Test func `is told when it is ready, how things stand, of each completed round, and of the end`() async throws {
    let bed = try SupervisorBed("16.7")
    let manager = try Manager(bed.scratch.path)
    let notify = NotifySocket(["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "180000000"])
    #expect(notify?.watchdog == .seconds(180))
    try await bed.start { $0.notify = notify }
    #expect(await bed.rows("up"))
    #expect(await bed.rounds(2))
    bed.stop()

    let told = manager.messages()
    #expect(told.first == "READY=1")
    #expect(told.contains("STATUS=1 body: 1 up"))
    #expect(told.count { $0 == "WATCHDOG=1" } >= 2)
    #expect(told.last == "STOPPING=1")
  }

  @Test func `is not there without a socket, and its name may be an abstract one`() {
    #expect(NotifySocket([:]) == nil)
    #expect(NotifySocket(["NOTIFY_SOCKET": "relative"]) == nil)
    #expect(NotifySocket(["NOTIFY_SOCKET": "@/abstract"]) != nil)
  }

  @Test func `feeds no watchdog while a body can't end its round`() {
    var rounds = Rounds(at: .zero)
    rounds.begin([UDID("a"), UDID("b")], at: .zero)
    func moment(_ seconds: Int) -> WatchTime {
      WatchTime(host: HostMoment(awake: .seconds(seconds), elapsed: .seconds(seconds)), wall: .zero)
    }
    rounds.ended(UDID("a"))

    #expect(rounds.complete([], every: .seconds(10), now: moment(1_000)) == nil)
    rounds.ended(UDID("b"))
    #expect(rounds.complete([], every: .seconds(10), now: moment(1_001))?.number == 1)
  }
}
