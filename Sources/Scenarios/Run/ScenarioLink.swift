import DeviceBridge
import Transport
import Wire

/// What scenarios ask of the way to a phone.
public typealias ScenarioLink = PhoneLink & PhoneFiles & PhoneProcesses & PhoneScreen & LogReading

/// The phone's log, read to whoever wants its lines.
public protocol LogReading: Sendable {
  /// Reads the log from now on until the phone ends it, or the task is cancelled.
  ///
  /// - Parameters:
  ///   - deadline: for the opening.
  ///   - opened: called once, when lines begin to come.
  ///   - take: called for each line.
  func readLog(
    openedBy deadline: Deadline, opened: @Sendable () -> Void, take: @Sendable (LogRecord) -> Void
  ) async throws(PhoneError)
}

extension PhoneLane: LogReading {
  public func readLog(
    openedBy deadline: Deadline, opened: @Sendable () -> Void, take: @Sendable (LogRecord) -> Void
  ) async throws(PhoneError) {
    let log = try await log(openedBy: deadline)
    defer { log.stop() }
    opened()
    for try await record in log { take(record) }
  }
}
