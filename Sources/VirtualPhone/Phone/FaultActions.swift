import Transport
import Wire

extension DeviceActions {
  // MARK: - Lockdown's values

  static let values: [PhoneAction] = [
    PhoneAction(
      name: "set-value",
      summary: "put something in place of lockdown's values: Key=VALUE … (domain=DOMAIN, "
        + "type=same|string|integer|real|boolean|data|absent|xml; clear=yes takes all of it back)",
      keys: [PhoneAction.anyCapitalKey, "domain", "type", "clear"]
    ) { phone, raw throws(ActionError) in
      let values = ActionValues(raw)
      let type = try values.word(
        "type", of: ["same", "string", "integer", "real", "boolean", "data", "absent", "xml"], else: "same")
      let domain = values["domain"] ?? ""
      var overrides: [LockdownName: LockdownOverride] = [:]
      for (key, text) in raw where key.first?.isUppercase ?? false {
        let name = LockdownName(domain: domain, key: key)
        overrides[name] = try LockdownOverride(text, as: type, like: phone.lockdownValue(name), key: key)
      }
      let clears = try values.flag("clear", else: false)
      guard clears || !overrides.isEmpty else {
        throw ActionError(
          "set-value was given no value. Names of values begin with a capital letter. "
            + "Try: fleetctl virtual do 1 set-value DeviceName=Hall.")
      }
      phone.state.with {
        if clears { $0.overrides = [:] }
        $0.overrides.merge(overrides) { _, new in new }
      }
    }
  ]

  // MARK: - Faults

  static let faults: [PhoneAction] = [
    PhoneAction(
      name: "lockdown-error",
      summary:
        "answer lockdown requests with an error: error=TOKEN, request=NAME (StartSession if not given; all: every "
        + "one), service=NAME (StartService of that service only), count=N (the next N; all if not given); clear=yes takes all "
        + "faults back",
      keys: ["error", "request", "service", "count", "clear"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let tokens = LockdownError.allCases.map(\.rawValue)
      let token = try values.word("error", of: tokens, else: LockdownError.invalidHostID.rawValue)
      try phone.add(fault: .error(token), values)
    },
    PhoneAction(
      name: "lockdown-fault",
      summary: "lockdown answers wrongly: kind=\(LockdownFault.Kind.allCases.map(\.rawValue).joined(separator: "|")), "
        + "request=NAME (StartSession if not given; TLS: in place of the session's handshake; all: every one), "
        + "when=before|after (close and hang: before the request is looked at, or once it is answered), size=N (bytes of "
        + "huge, levels of deep), pause=TIME (of drip), count=N; clear=yes takes all faults back",
      keys: ["kind", "request", "when", "size", "pause", "count", "clear"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let word = try values.word("kind", of: LockdownFault.Kind.allCases.map(\.rawValue), else: "close")
      try phone.add(fault: .fault(LockdownFault.Kind(rawValue: word) ?? .close), values)
    },
    PhoneAction(
      name: "tls-fault",
      summary: "TLS handshakes of the phone go wrong: kind=hang|close|alert|tls10 (only that version), step=hello (the "
        + "host's first message has come)|flight (in the middle of the phone's first)|finished (the phone does not "
        + "finish)|after, on=session|services|all or service=NAME, count=N; clear=yes takes all of them back",
      keys: ["kind", "step", "on", "service", "count", "clear"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let kinds = TLSFault.Kind.allCases.map(\.rawValue)
      let steps = TLSFault.Step.allCases.map(\.rawValue)
      let places = [TLSFault.session, TLSFault.services, TLSFault.everywhere]
      let place = try values.word("on", of: places, else: places[0])
      let fault = TLSFault(
        kind: .init(rawValue: try values.word("kind", of: kinds, else: kinds[0])) ?? .hang,
        step: .init(rawValue: try values.word("step", of: steps, else: steps[0])) ?? .hello,
        place: try values["service"].map { name throws(ActionError) in try DeviceServices.known(name) } ?? place,
        left: try values.integer("count", in: 1...1_000_000))
      let clears = try values.flag("clear", else: false)
      phone.state.with {
        if clears {
          $0.tlsFaults = []
        } else {
          $0.tlsFaults.removeAll { $0.place == fault.place }
          $0.tlsFaults.append(fault)
        }
      }
    },
  ]
}

extension VirtualPhone {
  fileprivate func add(fault effect: LockdownFault.Effect, _ values: ActionValues) throws(ActionError) {
    let requests = [
      "StartSession", "GetValue", "SetValue", "RemoveValue", "QueryType", "Pair", "ValidatePair", "Unpair",
      "StopSession", "StartService", LockdownFault.tls, LockdownFault.anyRequest,
    ]
    let word = try values.word("request", of: requests, else: requests[0])
    var fault = LockdownFault(effect: effect, request: values["service"] ?? word)
    fault.left = try values.integer("count", in: 1...1_000_000)
    fault.isLate = try values.word("when", of: ["before", "after"], else: "before") == "after"
    fault.size = try values.integer("size", in: 1...Int(UInt32.max) / 32)
    fault.pause = try values.duration("pause") ?? fault.pause
    let (clears, added) = (try values.flag("clear", else: false), fault)
    state.with {
      if clears {
        $0.lockdownFaults = []
      } else {
        $0.lockdownFaults.removeAll { $0.request == added.request }
        $0.lockdownFaults.append(added)
      }
    }
  }

  /// What lockdown says by itself under that name.
  fileprivate func lockdownValue(_ name: LockdownName) -> Plist? {
    let table = name.domain.isEmpty ? LockdownRoot.values : LockdownDomains.values[name.domain] ?? []
    let state = state.with { $0 }
    return table.first { $0.key == name.key }?.read(self, state)
  }
}

extension LockdownOverride {
  /// - Parameter known: the value that stands there now; `same` takes its type.
  fileprivate init(_ text: String, as type: String, like known: Plist?, key: String) throws(ActionError) {
    switch type {
    case "absent": self = .absent
    case "xml":
      guard Self.isElement(text) else {
        throw ActionError(
          "\(key) is no element of a property list's XML. Tags may be missing. Try: \(key)=<string>text</string>.")
      }
      self = .xml(text)
    case "same":
      self = .value(known.flatMap { Self.plist(text, as: Self.type(of: $0)) } ?? .string(text))
    default:
      guard let value = Self.plist(text, as: type) else {
        throw ActionError(
          "\(key)=\(text) cannot be read as \(type). Booleans are true or false, data is hexadecimal. "
            + "Try: type=string.")
      }
      self = .value(value)
    }
  }

  private static func isElement(_ text: String) -> Bool {
    guard text.utf8.count <= 65_536 else { return false }
    let whole = Array("<plist version=\"1.0\"><array>\(text)</array></plist>".utf8)
    do throws(PlistError) { return try Plist(parsing: whole).array?.count == 1 } catch { return false }
  }

  private static func type(of plist: Plist) -> String {
    switch plist {
    case .integer, .unsigned, .uid: "integer"
    case .real, .date: "real"
    case .boolean: "boolean"
    case .data: "data"
    case .string, .array, .dictionary: "string"
    }
  }

  private static func plist(_ text: String, as type: String) -> Plist? {
    switch type {
    case "integer": Int64(text).map(Plist.integer)
    case "real": Double(text).map(Plist.real)
    case "boolean": Bool(text).map(Plist.boolean)
    case "data": Hex.decode(text).map(Plist.data)
    default: .string(text)
    }
  }
}
