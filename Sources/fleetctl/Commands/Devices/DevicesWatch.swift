import DeviceBridge
import Fleet
import Transport
import Wire

/// `fleetctl devices --watch`: a line for each change, until a signal ends it.
///
/// The daemon says which phones come and go; what they are like is asked when they come, and then again and again.
struct DevicesWatch {
  private enum News: Sendable {
    case mux(MuxEvent)
    /// A phone's next visit is due, unless another one came after that one.
    case due(UDID, after: Int)
    case visited(DeviceReport, visit: Int)
  }

  /// One phone's visits.
  private struct Visits {
    var lane: PhoneLane
    /// The sysfs path of the USB port.
    var port: String?
    /// The one under way; nil between two.
    var current: Int?
    var last: Int?
    /// Something happened while one was under way.
    var isWanted = false
  }

  /// Between two visits of one phone: the supervisor's usual pace.
  private static let pause = Duration.seconds(10)

  private let bench: Bench
  private let context: Context
  private var ledger: DeviceLedger
  private var visits: [UDID: Visits] = [:]
  private var waiting: [UDID] = []
  private var count = 0
  private let news: AsyncStream<News>
  private let sink: AsyncStream<News>.Continuation

  init(_ bench: Bench, _ context: Context) {
    self.bench = bench
    self.context = context
    let entries = bench.configuration.bodies ?? []
    ledger = DeviceLedger { udid in entries.first { $0.udid == udid }?.name }
    (news, sink) = AsyncStream<News>.makeStream()
  }

  mutating func run() async throws(Complaint) -> ExitCode {
    let watch = MuxWatch(bench.mux)
    let sink = sink
    let ear = Task {
      for await event in watch.events { sink.yield(.mux(event)) }
      sink.finish()
    }
    defer {
      ear.cancel()
      watch.stop()
      for visits in visits.values { visits.lane.close() }
    }
    var isFirst = true
    for await piece in news {
      if isFirst, case .mux(.lost(let error)) = piece, Self.isHopeless(error) { throw Complaint(error) }
      isFirst = false
      try take(piece)
      startVisits()
    }
    return .done
  }

  /// Nothing that waiting could mend.
  private static func isHopeless(_ error: PhoneError) -> Bool {
    switch error {
    case .notASocket, .muxForbidden: true
    case .noMux, .deadMux, .muxSilent, .host, .absent, .networkOnly, .untrusted, .silent, .lost, .tls, .badReply,
      .lockdown, .refused, .launchRefused, .ended, .badRequest:
      false
    }
  }

  private mutating func take(_ piece: News) throws(Complaint) {
    switch piece {
    case .mux(let event):
      let telling = ledger.take(event)
      for udid in visits.keys where ledger.phone(udid) == nil { visits.removeValue(forKey: udid)?.lane.close() }
      for phone in telling.visits { want(phone) }
      try tell(telling)
    case .due(let udid, let visit):
      if let phone = ledger.phone(udid), visits[udid]?.last == visit { want(phone) }
    case .visited(let report, let visit):
      let udid = report.phone.udid
      // One that was begun before the phone left and came back says nothing about it now.
      guard visits[udid]?.current == visit else { return }
      visits[udid]?.current = nil
      visits[udid]?.last = visit
      try tell(ledger.take(report))
      let sink = sink
      if visits[udid]?.isWanted == true, let phone = ledger.phone(udid) {
        want(phone)
      } else {
        Task {
          try? await ContinuousClock().sleep(for: Self.pause)
          sink.yield(.due(udid, after: visit))
        }
      }
    }
  }

  private mutating func want(_ phone: ListedPhone) {
    if visits[phone.udid] == nil {
      visits[phone.udid] = Visits(lane: PhoneLane(phone, mux: bench.mux), port: USBPorts().port(of: phone.udid))
    }
    if visits[phone.udid]?.current != nil {
      visits[phone.udid]?.isWanted = true
    } else if !waiting.contains(phone.udid) {
      waiting.append(phone.udid)
    }
  }

  private mutating func startVisits() {
    while !waiting.isEmpty, visits.values.count(where: { $0.current != nil }) < DevicesCommand.visitors {
      let udid = waiting.removeFirst()
      guard let phone = ledger.phone(udid), let lane = visits[udid]?.lane else { continue }
      count += 1
      visits[udid]?.current = count
      visits[udid]?.isWanted = false
      let visit = DevicesCommand.visit(phone, at: visits[udid]?.port, bench, context)
      let (sink, number) = (sink, count)
      Task {
        sink.yield(.visited(await visit.report(over: lane, by: .after(DeviceVisit.limit)), visit: number))
      }
    }
  }

  private func tell(_ telling: DeviceLedger.Telling) throws(Complaint) {
    let output = context.output
    let now = WallClock.rfc3339()
    for change in telling.changes {
      if context.wantsJSON {
        try output.result(change.json(at: now))
      } else if let line = change.line(at: now) {
        try output.result(change.report?.facts.error == nil ? line : output.style.bad(line))
      }
      switch change.event {
      case .daemonLost: if let error = change.error { output.complain(error.sentence.printable) }
      case .daemonBack: output.complain("The usbmux daemon is back.")
      case .attached, .changed, .detached: break
      }
    }
    for complaint in telling.complaints { output.complain(complaint) }
  }
}
