import Transport
import Wire

/// The lane of one phone: every session and service of it, one call after another on one thread.
public final class PhoneLane: PhoneLink {
  public let udid: UDID
  private let phone: ListedPhone
  private let mux: Mux

  /// - Parameter phone: as `Mux.list` gave it; a lane outlives replugging.
  public init(_ phone: ListedPhone, mux: MuxAddress) {
    udid = phone.udid
    self.phone = phone
    self.mux = Mux(address: mux)
  }

  public func facts(by deadline: Deadline) async -> PhoneFacts {
    var facts = PhoneFacts()
    facts.error = .ended(udid)
    return facts
  }

  public func lock(by deadline: Deadline) async -> LockReading { LockReading(state: .unknown, why: "not asked") }

  public func app(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> InstalledApp? {
    throw .ended(udid)
  }

  public func isRunning(executable: String, by deadline: Deadline) async throws(PhoneError) -> Bool {
    throw .ended(udid)
  }

  public func launch(_ request: LaunchRequest, by deadline: Deadline) async throws(PhoneError) { throw .ended(udid) }

  public func connect(port: UInt16, by deadline: Deadline) async throws(PhoneError) -> any ByteStream {
    try await Blocking.run("phone-port") { [mux, phone] () throws(PhoneError) in
      try mux.connect(to: phone, port: port, by: deadline)
    }
  }

  public func request(_ request: DoorRequest) async -> DoorAnswer {
    DoorAnswer(ending: .unreachable(.ended(udid)), took: .zero)
  }

  public func close() {}
}
