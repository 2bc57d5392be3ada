import Transport
import Wire

/// What the daemon reports by itself.
public enum MuxEvent: Equatable, Sendable {
  /// The daemon listens to us; the phones that are there follow as `attached`, then every change.
  case connected
  /// A phone is there that was not.
  case attached(ListedPhone)
  /// The same phone under another number, link or spelling.
  case changed(ListedPhone)
  /// The last entry of the phone has gone.
  case detached(UDID)
  /// Somebody on this host has just been trusted by the phone.
  case paired(UDID)
  /// The daemon can't be heard: nothing is known of any phone until `connected`. Said once for each reason in a row.
  case lost(PhoneError)
}

/// The daemon's events, over a connection on which nothing but Listen is ever sent, for as long as this object lives.
///
/// When the daemon goes it is asked again, with pauses that grow to ten seconds.
public final class MuxWatch: Sendable {
  /// One reader; ends after `stop`.
  public let events: AsyncStream<MuxEvent>
  private let listening: MuxListening

  /// - Parameter pauses: between attempts while the daemon is away; the last one repeats.
  public init(
    _ address: MuxAddress, pauses: [Duration] = [.milliseconds(100), .milliseconds(500), .seconds(2), .seconds(10)]
  ) {
    let (events, sink) = AsyncStream<MuxEvent>.makeStream()
    let listening = MuxListening(address, pauses: pauses) { sink.yield($0) }
    self.events = events
    self.listening = listening
    sink.onTermination = { _ in listening.stop() }
    _ = Worker(name: "mux-watch") {
      listening.run()
      sink.finish()
    }
  }

  deinit { listening.stop() }

  /// Ends the connection, the thread and the stream.
  public func stop() { listening.stop() }
}

/// The thread's side of a watch.
final class MuxListening: Sendable {
  private struct State {
    var socket: Socket?
    var stopped = false
  }
  /// The daemon answers Listen at once or not at all.
  private static let replyTime = Duration.seconds(5)
  /// Far more than one host can carry; what a mad daemon adds beyond it is dropped.
  private static let entryLimit = 4096

  private let call: MuxCall
  private let pauses: [Duration]
  private let report: @Sendable (MuxEvent) -> Void
  private let state = Guarded(State())
  private let end = Latch()

  init(_ address: MuxAddress, pauses: [Duration], report: @escaping @Sendable (MuxEvent) -> Void) {
    call = MuxCall(address: address)
    self.pauses = pauses
    self.report = report
  }

  func stop() {
    state.with {
      $0.stopped = true
      $0.socket?.shutdown()
    }
    end.open()
  }

  func run() {
    var failures = 0
    var said: PhoneError?
    while !isStopped {
      let failure: MuxFailure
      do {
        let socket = try listen()
        failures = 0
        said = nil
        report(.connected)
        failure = hear(socket)
      } catch {
        failure = error
      }
      if isStopped { return }
      // Whatever comes back may number its phones anew.
      Roster.shared.forgetAll(at: call.address)
      let error = failure.error(at: call.address)
      if error != said { report(.lost(error)) }
      said = error
      let pause = pauses.isEmpty ? .seconds(1) : pauses[min(failures, pauses.count - 1)]
      failures += 1
      if end.wait(until: .after(pause)) { return }
    }
  }

  private var isStopped: Bool { state.with { $0.stopped } }

  private func listen() throws(MuxFailure) -> Socket {
    let (reply, socket) = try call.exchange(["MessageType": "Listen"], by: .after(Self.replyTime))
    guard reply["Number"]?.int == 0 else { throw .nonsense("it refuses to report changes") }
    let stopped = state.with {
      $0.socket = socket
      return $0.stopped
    }
    if stopped { socket.shutdown() }
    return socket
  }

  /// Reports until the connection ends.
  private func hear(_ socket: Socket) -> MuxFailure {
    var entries: [MuxEntry] = []
    defer {
      state.with { $0.socket = nil }
      socket.close()
    }
    while true {
      do throws(MuxFailure) {
        take(try MuxMessage.receive(on: socket, by: .never), &entries)
      } catch {
        return error
      }
    }
  }

  private func take(_ event: Plist, _ entries: inout [MuxEntry]) {
    let number = event["DeviceID"]?.int
    let before = ListedPhone.folding(entries)
    switch event["MessageType"]?.string {
    case "Attached":
      guard let entry = MuxEntry(event) else { return }
      entries.removeAll { $0.deviceID == entry.deviceID }
      guard entries.count < Self.entryLimit else { return }
      entries.append(entry)
    case "Detached":
      entries.removeAll { $0.deviceID == number }
    case "Paired":
      if let serial = entries.first(where: { $0.deviceID == number })?.serial { report(.paired(UDID(serial))) }
      return
    default: return
    }
    compare(before, ListedPhone.folding(entries))
  }

  private func compare(_ before: [ListedPhone], _ after: [ListedPhone]) {
    for phone in before where !after.contains(where: { $0.udid == phone.udid }) {
      Roster.shared.forget(phone.udid, at: call.address)
      report(.detached(phone.udid))
    }
    for phone in after {
      let known = before.first { $0.udid == phone.udid }
      if known == nil { report(.attached(phone)) } else if known != phone { report(.changed(phone)) }
    }
  }
}
