import Wire

extension PhoneWork {
  func power() throws(PhoneError) -> PowerReading {
    let now = ContinuousClock.now
    if let known = powerMemory.reading(at: now) { return known }
    let reading = try askForPower()
    powerMemory.keep(reading, at: now)
    return reading
  }

  /// - Source: diagnostics_relay, the I/O registry's class IOPMPowerSource: CurrentCapacity in percent of MaxCapacity,
  ///   Temperature in hundredths of a degree.
  private func askForPower() throws(PhoneError) -> PowerReading {
    let step = "reading its battery"
    let channel = try open("com.apple.mobile.diagnostics_relay")
    try channel.send(["Request": "IORegistry", "EntryClass": "IOPMPowerSource"])
    let reply = try channel.receivePlist()
    guard reply["Status"]?.string == "Success" else {
      let token = reply["Status"]?.string ?? reply["Error"]?.string ?? "no status"
      throw .lockdown(udid, step: step, token: PhoneText.clean(token), code: 0)
    }
    // A farewell only.
    try? channel.send(["Request": "Goodbye"])
    guard let battery = reply["Diagnostics"]?["IORegistry"] else {
      throw .badReply(udid, step: step, detail: "no battery in its answer")
    }
    return Self.reading(battery)
  }

  /// What does not make sense is left out.
  static func reading(_ battery: Plist) -> PowerReading {
    let full = battery["MaxCapacity"]?.int ?? 100
    let percent = battery["CurrentCapacity"]?.int.flatMap { (0...100_000).contains($0) && full > 0 ? $0 : nil }
      .map { full == 100 ? $0 : $0 * 100 / full }
    let degrees = battery["Temperature"]?.int.flatMap { (-4_000...12_000).contains($0) ? Double($0) / 100 : nil }
    return PowerReading(percent: percent.flatMap { (0...100).contains($0) ? $0 : nil }, temperature: degrees)
  }
}
