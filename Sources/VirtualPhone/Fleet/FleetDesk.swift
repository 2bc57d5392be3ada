import Transport
import Wire

/// Where actions come in, from the control socket and from the process itself: finds the phone and the action.
struct FleetDesk: Sendable {
  static let actions = DeviceActions.all + AppActions.all + CoreDeviceActions.all

  let phones: [VirtualPhone]
  let journal: Journal

  /// Does one action to one phone; the journal names it and its keys, never its values: one may be a token.
  func perform(_ name: String, on phone: String, _ values: [String: String]) throws(ActionError) {
    let action = try Self.action(name)
    let phone = try find(phone)
    try Self.check(values, for: action)
    try action.run(phone, values)
    phone.record(
      "action", ["action": .string(name), "keys": .array(values.keys.sorted().map { .string($0) })])
  }

  private static func action(_ name: String) throws(ActionError) -> PhoneAction {
    guard let action = actions.first(where: { $0.name == name }) else {
      throw Spelling.refusal(
        "There is no action \(name).", meant: name, among: actions.map(\.name).sorted(),
        next: "fleetctl virtual do --list")
    }
    return action
  }

  private static func check(_ values: [String: String], for action: PhoneAction) throws(ActionError) {
    for key in values.keys.sorted() where !action.takes(key) {
      guard !action.keys.isEmpty else {
        throw ActionError(
          "\(action.name) takes no keys, and \(key) is one. It may belong to another action. "
            + "Try: fleetctl virtual do --list.")
      }
      throw Spelling.refusal(
        "\(action.name) has no key \(key).", meant: key, among: action.keys, next: "fleetctl virtual do --list")
    }
  }

  /// By name, by number from 1, or by an unambiguous start of the UDID, in this order.
  func find(_ typed: String) throws(ActionError) -> VirtualPhone {
    let names = phones.map { phone in phone.state.with { $0.name } }
    let named = zip(phones, names).filter { $0.1 == typed || $0.0.identity.name == typed }.map(\.0)
    if let phone = named.first, named.count == 1 { return phone }
    if let number = Int(typed), typed.utf8.count <= 3, phones.indices.contains(number - 1) { return phones[number - 1] }
    let begun = phones.filter { $0.udid.begins(with: typed) }
    if let phone = begun.first(where: { $0.udid == UDID(typed) }) ?? (begun.count == 1 ? begun.first : nil) {
      return phone
    }
    let candidates = named.count > 1 ? named : begun
    let what = candidates.isEmpty ? "There is no virtual phone \(typed)." : "More than one virtual phone is \(typed)."
    let shown = (candidates.isEmpty ? phones : candidates).prefix(8).map { phone in
      "\((phones.firstIndex { $0 === phone } ?? 0) + 1) (\(phone.identity.name), \(phone.udid))"
    }
    let more = (candidates.isEmpty ? phones : candidates).count > shown.count ? ", …" : ""
    throw ActionError(
      "\(what) A phone is named by its number, its name or the start of its UDID: \(shown.joined(separator: ", "))\(more). "
        + "Try: fleetctl virtual do 1 lock.")
  }
}
