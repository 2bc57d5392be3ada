import Transport
import Wire

/// The phone's log, line by line as it is written, for one reader.
///
/// A reader that is slow makes the phone wait, and the phone drops lines then. The sequence ends with the error that
/// ended the log, and without one when it is stopped, or its task is cancelled.
public final class PhoneLog: AsyncSequence, Sendable {
  public typealias Element = LogRecord
  public typealias Failure = PhoneError

  /// Lines that wait for their reader.
  private static let capacity = 256

  private let box: Mailbox<LogRecord>
  private let talk: SideTalk

  private init(_ talk: SideTalk, _ box: Mailbox<LogRecord>) {
    self.talk = talk
    self.box = box
  }

  deinit { stop() }

  /// Ends the log, its connection and its thread.
  public func stop() {
    box.close(.success(()))
    talk.end()
  }

  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate let log: PhoneLog

    public mutating func next() async throws(PhoneError) -> LogRecord? {
      try await next(isolation: nil)
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws(PhoneError) -> LogRecord? {
      let log = log
      return try await withTaskCancellationHandler {
        await log.box.take()
      } onCancel: {
        log.stop()
      }.get()
    }
  }

  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(log: self) }

  // MARK: - On the talk's thread

  /// Opens the log, hands it to whoever waits for it, and reads until the phone or somebody here ends it.
  static func run(
    _ talk: SideTalk, _ work: PhoneWork, by deadline: Deadline, give: (Result<PhoneLog, PhoneError>) -> Bool
  ) {
    let channel: ServiceChannel
    do throws(PhoneError) {
      channel = try talk.open(step, by: deadline) { () throws(PhoneError) in
        defer { work.dropSession() }
        return try work.open("com.apple.syslog_relay")
      }
    } catch {
      _ = give(.failure(work.explained(error)))
      return
    }
    // The box alone is kept here: a log that nobody reads any more ends.
    let box = Mailbox<LogRecord>(capacity: capacity)
    if give(.success(PhoneLog(talk, box))) { read(channel, into: box, work) }
  }

  static let step = "opening its log"

  private static func read(_ channel: ServiceChannel, into box: Mailbox<LogRecord>, _ work: PhoneWork) {
    channel.patience = nil
    var splitter = LogSplitter()
    do throws(PhoneError) {
      while true {
        let bytes = try channel.receive(upTo: { $0 == 0x0A || $0 == 0 }, limit: 16 << 10)
        for record in splitter.feed(bytes) where !box.put(record) { return }
      }
    } catch {
      box.close(.failure(work.explained(error)))
    }
  }
}

extension PhoneLane {
  public func log(openedBy deadline: Deadline) async throws(PhoneError) -> PhoneLog {
    let talk = SideTalk(route)
    let log: Result<PhoneLog, PhoneError> = await calls.result(of: udid, PhoneLog.step, by: deadline) { [calls] shot in
      talk.start(name: "phone log") { work in
        let call = calls.enter { talk.end() }
        PhoneLog.run(talk, work, by: deadline) { shot.give($0) }
        calls.leave(call)
      }
    } end: { reason in
      // At its deadline the opening ends by itself.
      if case .ended = reason { talk.end() }
    }
    return try log.get()
  }
}
