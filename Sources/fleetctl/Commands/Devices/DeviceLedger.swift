import DeviceBridge
import Wire

/// What `fleetctl devices --watch` has told so far, and what the next piece of news adds to it.
///
/// A pure value. Nothing is told twice: neither a phone that is as it was, nor a complaint that stands.
struct DeviceLedger {
  /// What is to be said now.
  struct Telling {
    var changes: [DeviceChange] = []
    /// Sentences about what kept a visit from being whole.
    var complaints: [String] = []
    /// Phones to visit, because they are new or somebody did something to them.
    var visits: [ListedPhone] = []
  }

  private struct Entry {
    var phone: ListedPhone
    /// fleet.yaml's name.
    var body: String?
    /// As it was told last; nil while its first visit lasts.
    var told: DeviceReport?
  }

  private var entries: [UDID: Entry] = [:]
  private var isLost = false
  /// fleet.yaml's name of a phone.
  private let body: @Sendable (UDID) -> String?

  init(body: @escaping @Sendable (UDID) -> String?) { self.body = body }

  /// The phone as the daemon shows it now; nil once it has left.
  func phone(_ udid: UDID) -> ListedPhone? { entries[udid]?.phone }

  mutating func take(_ event: MuxEvent) -> Telling {
    var telling = Telling()
    switch event {
    case .connected:
      if isLost { telling.changes = [DeviceChange(event: .daemonBack)] }
      isLost = false
    case .lost(let error):
      // Its socket goes, then comes back before the daemon does: one absence, whatever each attempt meets.
      if !isLost { telling.changes = [DeviceChange(event: .daemonLost, error: error)] }
      isLost = true
      entries = [:]
    case .attached(let phone):
      entries[phone.udid] = Entry(phone: phone, body: body(phone.udid))
      telling.visits = [phone]
    case .changed(let phone):
      entries[phone.udid, default: Entry(phone: phone, body: body(phone.udid))].phone = phone
      telling.visits = [phone]
    case .paired(let udid):
      if let phone = entries[udid]?.phone { telling.visits = [phone] }
    case .detached(let udid):
      guard let entry = entries.removeValue(forKey: udid) else { break }
      // It left before its first visit was over: that it was there is told all the same.
      let unseen = DeviceReport(body: entry.body, phone: entry.phone, facts: PhoneFacts())
      if entry.told == nil { telling.changes = [DeviceChange(event: .attached, report: unseen)] }
      telling.changes.append(DeviceChange(event: .detached, report: entry.told ?? unseen))
    }
    return telling
  }

  /// A visit is over.
  mutating func take(_ report: DeviceReport) -> Telling {
    var telling = Telling()
    let udid = report.phone.udid
    guard let before = entries[udid] else { return telling }
    entries[udid]?.told = report
    if let was = before.told {
      if was.cells != report.cells {
        telling.changes = [DeviceChange(event: .changed, report: report, was: was)]
      }
    } else {
      telling.changes = [DeviceChange(event: .attached, report: report)]
    }
    // The same trouble in other numbers is the same trouble.
    if let error = report.facts.error, error.word != before.told?.facts.error?.word {
      telling.complaints = [report.complaint(error)]
    }
    return telling
  }
}

extension DeviceReport {
  /// What kept this phone's visit from being whole, with its name.
  func complaint(_ error: PhoneError) -> String {
    (name.map { "\($0.printable): " } ?? "") + error.sentence.printable
  }
}
