import Transport
import Wire

extension LockdownConnection {
  func getValue(_ request: Plist) throws(LockdownError) -> LockdownAnswer {
    let domain = request["Domain"]?.string ?? ""
    let values = try table(of: domain)
    let state = phone.state.with { $0 }
    guard let key = request["Key"]?.string else { return dump(domain, values, state) }
    let name = LockdownName(domain: domain, key: key)
    if let replaced = state.overrides[name] {
      switch replaced {
      case .absent: throw .missingValue
      case .value(let value):
        try allow(values.first { $0.key == key }, domain)
        return LockdownAnswer(body: ["Value": value])
      case .xml(let text):
        try allow(values.first { $0.key == key }, domain)
        let placeholder = Fresh.uuid()
        return LockdownAnswer(body: ["Value": .string(placeholder)], verbatim: [placeholder: text])
      }
    }
    guard let entry = values.first(where: { $0.key == key }) else { throw .missingValue }
    try allow(entry, domain)
    guard let value = entry.read(phone, state) else { throw .missingValue }
    return LockdownAnswer(body: ["Value": value])
  }

  func setValue(_ request: Plist) throws(LockdownError) -> LockdownAnswer {
    let domain = request["Domain"]?.string ?? ""
    guard let key = request["Key"]?.string else { throw .missingKey }
    guard let value = request["Value"] else { throw .missingValue }
    let name = LockdownName(domain: domain, key: key)
    // The one thing that a stranger may say about itself before it is trusted.
    guard isTrusted || key == "UntrustedHostBUID" else { throw .setProhibited }
    guard LockdownDomains.settable.contains(name) else {
      throw try table(of: domain).contains { $0.key == key } ? .immutableValue : .setProhibited
    }
    if name == LockdownName(domain: "", key: "DeviceName") {
      guard let text = value.string, text.utf8.count <= 1024 else { throw .setProhibited }
      phone.state.with { $0.name = text }
    } else if name == LockdownName(domain: "", key: "TimeIntervalSince1970") {
      guard let seconds = Self.seconds(value) else { throw .setProhibited }
      // The clock is set, and goes on from there.
      let offset = seconds - Double(WallTime.now().milliseconds) / 1000
      phone.rules.with { $0.clockOffset = offset }
    } else {
      guard value.xml.count <= 4096 else { throw .setProhibited }
      phone.state.with { $0.overrides[name] = .value(value) }
    }
    return LockdownAnswer(body: ["Value": value])
  }

  func removeValue(_ request: Plist) throws(LockdownError) -> LockdownAnswer {
    guard isTrusted else { throw .sessionInactive }
    guard let key = request["Key"]?.string else { throw .missingKey }
    let name = LockdownName(domain: request["Domain"]?.string ?? "", key: key)
    guard LockdownDomains.settable.contains(name), key != "DeviceName" else { throw .removeProhibited }
    phone.state.with { $0.overrides[name] = nil }
    return LockdownAnswer(body: [:])
  }

  /// Within the years that a phone takes.
  private static func seconds(_ value: Plist) -> Double? {
    let seconds: Double? = if case .real(let real) = value { real } else { value.int.map(Double.init) }
    return seconds.flatMap { (0..<4_102_444_800).contains($0) ? $0 : nil }
  }

  /// Everything that may be seen at once.
  private func dump(_ domain: String, _ values: [LockdownValue], _ state: PhoneState) -> LockdownAnswer {
    var entries: [String: Plist] = [:]
    var verbatim: [String: String] = [:]
    for value in values where value.access == .open || (isTrusted && value.access == .session) {
      switch state.overrides[LockdownName(domain: domain, key: value.key)] {
      case .absent: continue
      case .value(let replaced): entries[value.key] = replaced
      case .xml(let text):
        let placeholder = Fresh.uuid()
        entries[value.key] = .string(placeholder)
        verbatim[placeholder] = text
      case nil: entries[value.key] = value.read(phone, state)
      }
    }
    if isTrusted {
      // Keys that no phone has by itself, put there by somebody.
      for (name, replaced) in state.overrides where name.domain == domain && entries[name.key] == nil {
        if case .value(let value) = replaced { entries[name.key] = value }
      }
    }
    return LockdownAnswer(body: ["Value": .dictionary(entries)], verbatim: verbatim)
  }

  /// - Throws: `GetProhibited` for what needs a session that there is not.
  private func allow(_ value: LockdownValue?, _ domain: String) throws(LockdownError) {
    guard !isTrusted else { return }
    // A phone that denies its hosts until its first unlock says at least that it is locked (assumed: nothing else would
    // tell it from one that has forgotten them).
    let isDenying = phone.state.with { !$0.unlockedSinceBoot && $0.beforeFirstUnlock == .invalidHostID }
    if isDenying, domain.isEmpty, value?.key == "PasswordProtected" { return }
    guard let value, domain.isEmpty, value.access != .session else { throw .getProhibited }
  }

  private func table(of domain: String) throws(LockdownError) -> [LockdownValue] {
    if domain.isEmpty {
      let key = server.keys.devicePublicKey
      return LockdownRoot.values + [LockdownValue("DevicePublicKey", .named, always: .data(key))]
    }
    return LockdownDomains.values[domain] ?? []
  }
}
