import Transport
import Wire

/// One virtual phone: who it is, how it is, and what listens on its ports.
public final class VirtualPhone: Sendable {
  public let identity: PhoneIdentity
  public let preset: PhonePreset
  public let journal: Journal
  public let state: Guarded<PhoneState>
  public let ports = DevicePorts()
  let clock: any PhoneClock

  public var udid: UDID { identity.udid }

  init(identity: PhoneIdentity, preset: PhonePreset, clock: any PhoneClock, journal: Journal) {
    self.identity = identity
    self.preset = preset
    self.clock = clock
    self.journal = journal
    state = Guarded(PhoneState(name: identity.name))
  }

  /// Writes one line about this phone into the journal; never keys, records or tokens.
  func record(_ event: String, _ details: [String: JSON] = [:]) {
    journal.record(udid, event, details)
  }
}
