import Wire

extension PhoneWork {
  /// One visit: whatever the phone tells, and what kept it from telling more.
  func facts() -> PhoneFacts {
    var facts = PhoneFacts()
    do throws(PhoneError) {
      facts.deviceName = try value("DeviceName")?.string
      // A kept session is no proof of anything before it has carried an answer.
      facts.trust = .trusted
      facts.model = try value("ProductType")?.string
      facts.ios = try value("ProductVersion")?.string
      facts.batteryPercent = try battery()
      facts.lock = Self.lock(try value("PasswordProtected"))
      if facts.lock.state == .locked, try !startsServices() {
        facts.trust = .lockedBeforeFirstUnlock
        facts.lock.why = "not unlocked since it was switched on"
      }
    } catch {
      let error = explained(error)
      facts.error = error
      facts.lock = Self.lock(without: error)
      guard case .untrusted(_, let trust) = error else { return facts }
      facts.trust = trust
      fillPublic(&facts)
    }
    return facts
  }

  /// Some phones open a session before their first unlock, and no service over it.
  private func startsServices() throws(PhoneError) -> Bool {
    do throws(PhoneError) {
      _ = try start("com.apple.mobile.notification_proxy")
      return true
    } catch .lockdown(_, _, "PasswordProtected", _) {
      return false
    }
  }

  /// Some values are told to anybody, trusted or not.
  private func fillPublic(_ facts: inout PhoneFacts) {
    guard let values = try? publicValues(["DeviceName", "ProductType", "ProductVersion"]) else { return }
    facts.deviceName = values["DeviceName"]?.string
    facts.model = values["ProductType"]?.string
    facts.ios = values["ProductVersion"]?.string
  }

  /// - Returns: charge in percent, 0...100.
  private func battery() throws(PhoneError) -> Int? {
    guard let percent = try value("BatteryCurrentCapacity", in: "com.apple.mobile.battery")?.int,
      (0...100).contains(percent)
    else { return nil }
    return percent
  }

  /// The passcode lock, read anew.
  ///
  /// - Source: lockdown key PasswordProtected, true only while the passcode lock is engaged.
  func lock() -> LockReading {
    do throws(PhoneError) { return Self.lock(try value("PasswordProtected")) } catch {
      return Self.lock(without: error)
    }
  }

  static func lock(_ value: Plist?) -> LockReading {
    switch value {
    case .boolean(true), .integer(1), .unsigned(1):
      LockReading(state: .locked, why: "the phone asks for its passcode")
    case .boolean(false):
      LockReading(state: .unlocked, why: "unlocked, or no passcode is set: the phone does not tell which")
    case nil: LockReading(state: .unknown, why: "the phone does not tell")
    case .string, .integer, .unsigned, .real, .data, .date, .uid, .array, .dictionary:
      LockReading(state: .unknown, why: "the phone's answer is neither yes nor no")
    }
  }

  static func lock(without error: PhoneError) -> LockReading {
    if case .untrusted(_, .lockedBeforeFirstUnlock) = error {
      return LockReading(state: .locked, why: "not unlocked since it was switched on")
    }
    return LockReading(state: .unknown, why: "no session: \(error.word)")
  }
}
