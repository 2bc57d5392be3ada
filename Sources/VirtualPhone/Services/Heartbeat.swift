import Transport
import Wire

/// com.apple.mobile.heartbeat: the phone says Marco, the host Polo, and a host that stays silent loses its connection.
struct Heartbeat: DeviceService {
  let names = ["com.apple.mobile.heartbeat"]
  let needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    let pulse = Pulse(connection)
    defer { pulse.end() }
    pulse.call()
    while let answer = connection.receive() {
      if answer["Command"] == "Polo" { pulse.answered() }
    }
  }
}

extension Heartbeat {
  /// The phone's side of one connection, driven by its timers.
  final class Pulse: Sendable {
    /// From an answer to the next call, in phone time.
    static let interval = Duration.seconds(10)
    /// How long an answer may take beyond that.
    static let grace = Duration.seconds(5)

    private let connection: ServiceConnection
    private let outBox: OutBox
    /// What is due next: a call, or the end of patience. Nil once it is over.
    private let due = Guarded(PhoneTimers.Ticket?.none)
    private let isOver = Guarded(false)

    init(_ connection: ServiceConnection) {
      self.connection = connection
      outBox = OutBox(connection.stream)
    }

    func call() {
      outBox.push(ServiceFrame.bytes(Plist.dictionary(["Command": "Marco", "Interval": 10]).xml))
      schedule(after: Self.interval + Self.grace) { pulse in
        pulse.connection.phone.record("heartbeat-lost")
        pulse.connection.stream.shutdown()
      }
    }

    func answered() { schedule(after: Self.interval) { $0.call() } }

    func end() {
      isOver.with { $0 = true }
      connection.phone.timers.cancel(due.with { $0 })
      outBox.end()
    }

    private func schedule(after wait: Duration, _ body: @escaping @Sendable (Pulse) -> Void) {
      let phone = connection.phone
      phone.timers.cancel(due.with { $0 })
      guard !isOver.with({ $0 }) else { return }
      let ticket = phone.timers.schedule(at: phone.clock.now + wait) { [weak self] in
        guard let self, !isOver.with({ $0 }) else { return }
        body(self)
      }
      due.with { $0 = ticket }
    }
  }
}
