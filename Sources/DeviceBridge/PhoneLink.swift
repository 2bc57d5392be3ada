import Transport
import Wire

/// One phone as everything above this room sees it. Each call ends by its deadline, whatever the phone does.
///
/// Calls of one link run one after another (a lane), except door requests, which run side by side.
public protocol PhoneLink: Sendable {
  var udid: UDID { get }
  /// Everything one visit can tell; never throws, since a sick phone still has a line.
  func facts(by deadline: Deadline) async -> PhoneFacts
  /// Reads the lock anew.
  func lock(by deadline: Deadline) async -> LockReading
  /// - Returns: nil when the app is not installed.
  func app(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> InstalledApp?
  /// Whether a process of that executable's name exists.
  func isRunning(executable: String, by deadline: Deadline) async throws(PhoneError) -> Bool
  /// Brings the app to the front. Returning means accepted: the process has lived one second, or its door has answered.
  func launch(_ request: LaunchRequest, by deadline: Deadline) async throws(PhoneError)
  /// A connection to a port on the phone.
  func connect(port: UInt16, by deadline: Deadline) async throws(PhoneError) -> any ByteStream
  /// One HTTP exchange with the door; any ending is an answer of some kind.
  func request(_ request: DoorRequest) async -> DoorAnswer
  /// Ends sessions and descriptors; calls under way end with an error.
  func close()
}
