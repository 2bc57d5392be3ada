import Transport
import Wire

/// What can be made to happen to the phone's tunnels and CoreDevice services.
enum CoreDeviceActions {
  static let all: [PhoneAction] = tunnels + calls + manners

  private static func words<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> String {
    type.allCases.map(\.rawValue).joined(separator: "|")
  }

  // MARK: - Tunnels

  private static let tunnels: [PhoneAction] = [
    AppActions.action(
      "tunnel-fault",
      "the next tunnels go wrong: kind=\(words(TunnelFault.Kind.self)), when=handshake (the host has asked, nothing is "
        + "answered)|reply (half of the answer is out)|after (the handshake is done)|bytes, bytes=N (of packets that are "
        + "out), count=N; clear=yes takes all of them back",
      ["kind", "when", "bytes", "count", "clear"]
    ) { phone, values throws(ActionError) in
      let bytes = try values.integer("bytes", in: 0...1 << 40)
      let fault = TunnelFault(
        kind: try values.choice("kind", TunnelFault.Kind.self, else: .drop),
        moment: try values.choice("when", TunnelFault.Moment.self, else: bytes == nil ? .after : .bytes),
        bytes: bytes ?? 0, left: try values.integer("count", in: 1...1_000_000))
      let clears = try values.flag("clear", else: false)
      phone.rules.with { $0.remote.tunnelFaults = clears ? [] : $0.remote.tunnelFaults + [fault] }
    },
    AppActions.action(
      "tunnel-now",
      "something happens to the tunnels that are open: kind=\(words(TunnelFault.Kind.self)) or wake; "
        + "to=ADDRESS, from=ADDRESS: one packet between these two goes to the host instead",
      ["kind", "to", "from"]
    ) { phone, values throws(ActionError) in
      let tunnels = phone.tunnels.with { $0 }
      guard !tunnels.isEmpty else {
        throw ActionError("Nothing was done. No host has a tunnel to the phone now. Try: tunnel-fault.")
      }
      if values["to"] != nil || values["from"] != nil {
        for tunnel in tunnels {
          let to = try address(values["to"], "to", else: tunnel.offer.client)
          let from = try address(values["from"], "from", else: tunnel.offer.server)
          tunnel.inject(StrayPacket(from: from, to: to).bytes)
        }
        return
      }
      let kinds = TunnelFault.Kind.allCases.map(\.rawValue) + ["wake"]
      let kind = TunnelFault.Kind(rawValue: try values.word("kind", of: kinds, else: "drop"))
      for tunnel in tunnels { tunnel.spoil(kind) }
    },
  ]

  private static func address(
    _ text: String?, _ key: String, else fallback: IPv6Address
  ) throws(ActionError) -> IPv6Address {
    guard let text else { return fallback }
    guard let address = IPv6Address(text) else {
      throw ActionError("\(key)=\(text) is no IPv6 address. It may be misspelt. Try: \(key)=\(fallback).")
    }
    return address
  }

  // MARK: - Calls

  private static let names = CoreDeviceFeature.allCases.map(\.rawValue) + [CallFault.rsd, CallFault.anyCall]

  private static let calls: [PhoneAction] = [
    AppActions.action(
      "coredevice-fault",
      "calls of CoreDevice services go wrong: kind=\(words(CallFault.Kind.self)), call=\(names.joined(separator: "|")) "
        + "(rsd: the list of services), pause=TIME (of slow, and between the bytes of drip), levels=N (of deep), "
        + "domain=NAME, code=N, text=WORDS (of error), count=N; clear=yes takes all of them back",
      ["kind", "call", "pause", "levels", "domain", "code", "text", "count", "clear"]
    ) { phone, values throws(ActionError) in
      var fault = CallFault(
        kind: try values.choice("kind", CallFault.Kind.self, else: .silent),
        call: try values.word("call", of: names, else: CallFault.anyCall))
      fault.pause = try values.duration("pause") ?? (fault.kind == .slow ? .seconds(2) : .zero)
      fault.levels = try values.integer("levels", in: 1...1_000_000) ?? fault.levels
      fault.domain = values["domain"] ?? fault.domain
      fault.code = Int64(try values.integer("code", in: -1_000_000...1_000_000) ?? Int(fault.code))
      fault.text = values["text"] ?? fault.text
      fault.left = try values.integer("count", in: 1...1_000_000)
      let (clears, added) = (try values.flag("clear", else: false), fault)
      phone.rules.with {
        $0.remote.faults.removeAll { clears || $0.call == added.call }
        if !clears { $0.remote.faults.append(added) }
      }
    }
  ]

  // MARK: - Manners

  private enum Answer: String, CaseIterable { case version, yes, no }

  private static let manners: [PhoneAction] = [
    AppActions.action(
      "coredevice-as",
      "how the phone's CoreDevice differs from its version's: streams=version|yes|no (lists in pieces; the plain list of "
        + "apps is never answered then), lock=version|yes|no (deviceinfo tells the lock), remembers-host=version|yes|no "
        + "(another host's UUID in one tunnel closes its services); what is not given is the version's",
      ["streams", "lock", "remembers-host"]
    ) { phone, values throws(ActionError) in
      func answer(_ key: String) throws(ActionError) -> Bool? {
        switch try values.choice(key, Answer.self, else: .version) {
        case .version: nil
        case .yes: true
        case .no: false
        }
      }
      let (streams, lock, host) = (try answer("streams"), try answer("lock"), try answer("remembers-host"))
      phone.rules.with {
        $0.remote.streamsLists = streams
        $0.remote.tellsLock = lock
        $0.remote.remembersHost = host
      }
    },
    AppActions.action(
      "remote-service",
      "a service of the list that tunnels are given: service=NAME, as=missing (not listed)|refusing (listed, and nobody "
        + "listens)|listed (as ever); clear=yes: all of them as ever",
      ["service", "as", "clear"]
    ) { phone, values throws(ActionError) in
      if try values.flag("clear", else: false) {
        return phone.rules.with { ($0.remote.missing, $0.remote.refusing) = ([], []) }
      }
      let known = RemoteService.all.map(\.name)
      let service = try values.word("service", of: known, else: CoreDeviceService.apps.rawValue)
      let form = try values.word("as", of: ["missing", "refusing", "listed"], else: "missing")
      phone.rules.with {
        if form == "missing" { $0.remote.missing.insert(service) } else { $0.remote.missing.remove(service) }
        if form == "refusing" { $0.remote.refusing.insert(service) } else { $0.remote.refusing.remove(service) }
      }
    },
    AppActions.action(
      "personalization",
      "what the phone remembers of personalised images: forget=yes: no tickets; roll=yes: another nonce, and no tickets",
      ["forget", "roll"]
    ) { phone, values throws(ActionError) in
      let (forget, roll) = (try values.flag("forget", else: false), try values.flag("roll", else: false))
      phone.state.with {
        if forget { $0.personalization.forget() }
        if roll { $0.personalization.roll() }
      }
    },
  ]
}
