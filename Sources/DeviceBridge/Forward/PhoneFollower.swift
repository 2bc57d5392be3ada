import Transport
import Wire

/// Knows on a poller's thread, at any moment, under which number the daemon shows one phone.
///
/// A number is good only as long as the connection lives over which the daemon tells of changes, and nothing unread
/// is on it: numbers begin anew with each daemon and are given to other phones.
final class PhoneFollower: Alarmed {
  enum Sight: Equatable {
    /// Too early to tell.
    case looking
    case here(ListedPhone)
    case away
    case deaf(PhoneError)
  }

  /// The daemon answers Listen at once or not at all.
  private static let replyTime = Duration.seconds(5)
  /// The phones that are there follow the answer at once; one that has not been named by then is not there.
  private static let settlingTime = Duration.milliseconds(250)
  private static let pauses: [Duration] = [.milliseconds(100), .milliseconds(500), .seconds(2)]
  /// Far more than one host can carry; what a mad daemon adds beyond it is dropped.
  private static let entryLimit = 4096

  private enum Stage {
    case pausing
    case asking(MuxExchange)
    case listening(End, settled: Bool)
    case ended
  }

  private let udid: UDID
  private let mux: MuxAddress
  private let targets: [SocketAddress]
  private let poller: Poller
  private let alarms: Alarms
  private var stage = Stage.pausing
  private var failures = 0
  private var inbox = MuxInbox()
  private var entries: [MuxEntry] = []
  private(set) var sight = Sight.looking
  /// Called after `sight` has changed, with what it was.
  var changed: (Sight) -> Void = { _ in }

  init(_ udid: UDID, mux: MuxAddress, targets: [SocketAddress], poller: Poller, alarms: Alarms) {
    self.udid = udid
    self.mux = mux
    self.targets = targets
    self.poller = poller
    self.alarms = alarms
  }

  /// The phone's number, where it has one.
  var deviceID: Int? { if case .here(let phone) = sight { phone.deviceID } else { nil } }

  func begin() {
    let message = MuxExchange.message(["MessageType": "Listen"])
    let exchange = MuxExchange(message, to: targets, poller: poller) { [weak self] in self?.take($0) }
    stage = .asking(exchange)
    alarms.set(self, at: .after(Self.replyTime))
    exchange.begin()
  }

  func end() {
    leave()
    stage = .ended
    alarms.cancel(self)
    changed = { _ in }
  }

  /// Reads what the daemon has told and nobody has read yet.
  func catchUp() {
    guard case .listening(let line, _) = stage else { return }
    do throws(MuxFailure) {
      var hasNews = false
      while let event = try inbox.next(on: line.socket) {
        note(try MuxInbox.plist(event))
        hasNews = true
      }
      if hasNews { look() }
    } catch {
      lose(error)
    }
  }

  func alarm() {
    switch stage {
    case .pausing: begin()
    case .asking: lose(.stream(.timedOut))
    case .listening(let line, _):
      stage = .listening(line, settled: true)
      failures = 0
      look()
    case .ended: break
    }
  }

  private func take(_ outcome: MuxExchange.Outcome) {
    switch outcome {
    case .reply(let reply, let line):
      stage = .listening(line, settled: false)
      guard (try? MuxInbox.plist(reply))?["Number"]?.int == 0 else {
        return lose(.nonsense("it refuses to report changes"))
      }
      poller.hand(line.token) { [weak self] _ in self?.catchUp() }
      alarms.set(self, at: .after(Self.settlingTime))
      see(.looking)
      catchUp()
    case .busy(let failure), .failed(let failure): lose(failure)
    }
  }

  private func note(_ event: Plist) {
    switch event["MessageType"]?.string {
    case "Attached":
      guard let entry = MuxEntry(event) else { return }
      entries.removeAll { $0.deviceID == entry.deviceID }
      if entries.count < Self.entryLimit { entries.append(entry) }
    case "Detached":
      let number = event["DeviceID"]?.int
      entries.removeAll { $0.deviceID == number }
    default: break
    }
  }

  /// Where the phone is, by what the daemon has told so far.
  private func look() {
    guard case .listening(_, let settled) = stage else { return }
    if let phone = ListedPhone.folding(entries).first(where: { $0.udid == udid }), phone.transport == .usb {
      see(.here(phone))
    } else if settled || sight != .looking {
      see(.away)
    }
  }

  private func lose(_ failure: MuxFailure) {
    let hasListened = if case .listening = stage { true } else { false }
    leave()
    stage = .pausing
    alarms.set(self, at: .after(Self.pauses[min(failures, Self.pauses.count - 1)]))
    // A daemon that only hangs up is back in no time; what is wrong with one that is not, the next attempt tells.
    see(hasListened && failures == 0 ? .looking : .deaf(failure.error(at: mux)))
    failures += 1
  }

  private func leave() {
    switch stage {
    case .asking(let exchange): exchange.end()
    case .listening(let line, _): line.close(poller)
    case .pausing, .ended: break
    }
    entries = []
    inbox = MuxInbox()
  }

  private func see(_ new: Sight) {
    guard new != sight else { return }
    let before = sight
    sight = new
    changed(before)
  }
}
