import Transport
import Wire

/// What can be made to happen to the mux. It is one for all phones, whichever phone is named.
extension DeviceActions {
  static let mux: [PhoneAction] = [
    PhoneAction(
      name: "mux-chunk",
      summary:
        "the mux sends its replies in pieces (for all phones): bytes=N, pause=TIME, single=N (so many first bytes "
        + "one by one); bytes=0 ends it",
      keys: ["bytes", "pause", "single"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let bytes = try values.integer("bytes", in: 0...1 << 20) ?? 1024
      let pause = try values.duration("pause") ?? .milliseconds(5)
      let single = try values.integer("single", in: 0...1 << 20) ?? 0
      phone.bus.pacing.set(bytes == 0 ? nil : ReplyPacing.Pieces(bytes: bytes, pause: pause, single: single))
    },
    PhoneAction(
      name: "mux-silent",
      summary: "the mux hangs (for all phones): takes requests and answers none (on=yes|no, after=N: N more are "
        + "answered; accept=no: nobody is even taken, the queue of those who connect fills up)",
      keys: ["on", "after", "accept"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let isOn = try values.flag("on", else: true)
      let accepts = try values.flag("accept", else: true)
      let left = try values.integer("after", in: 0...1_000_000) ?? 0
      phone.bus.setSilence(isOn ? MuxSilence(answersLeft: left) : .none)
      phone.bus.daemon?.setAccepting(accepts || !isOn)
    },
    PhoneAction(
      name: "mux-manners",
      summary: "as=plain|real (for all phones): real behaves as usbmuxd 1.1.1: a queue of five, a phone is listed only "
        + "after preflight, a half-close resets, odd requests meet silence",
      keys: ["as"]
    ) { phone, values throws(ActionError) in
      let words = MuxManners.allCases.map(\.rawValue)
      let word = try ActionValues(values).word("as", of: words, else: MuxManners.real.rawValue)
      phone.bus.setManners(MuxManners(rawValue: word) ?? .real)
    },
    PhoneAction(
      name: "mux-drop", summary: "the mux ends the connections of all who listen (for all phones)", keys: []
    ) { phone, _ in phone.bus.dropListeners() },
    PhoneAction(
      name: "mux-quit",
      summary: "the mux ends and comes back with numbers from 1 (for all phones): for=TIME, 6s if not given; hard=yes: "
        + "its socket's file stays behind; apart=TIME: the phones appear one by one; lost=N: the last N are not listed "
        + "until they are replugged",
      keys: ["for", "hard", "apart", "lost"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let isReal = phone.bus.manners == .real
      var absence = MuxDaemon.Absence(time: try values.duration("for") ?? .seconds(6))
      // The real daemon never tidies up behind itself.
      absence.leavesFile = try values.flag("hard", else: isReal)
      absence.apart = try values.duration("apart") ?? (isReal ? MuxManners.discovery : .zero)
      absence.lost = try values.integer("lost", in: 0...256) ?? 0
      phone.bus.daemon?.quit(absence)
    },
  ]

  // MARK: - One phone's connections

  static let connections: [PhoneAction] = [
    PhoneAction(
      name: "connect-delay",
      summary: "the phone is slow to take connections: for=TIME (for ever if not given), port=N (every one if not "
        + "given), count=N; clear=yes takes it back",
      keys: ["for", "port", "count", "clear"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let delay = ConnectDelay(
        time: try values.duration("for"),
        port: try values.integer("port", in: 1...65_535).flatMap { UInt16(exactly: $0) },
        left: try values.integer("count", in: 1...1_000_000))
      let clears = try values.flag("clear", else: false)
      phone.state.with { $0.connectDelay = clears ? nil : delay }
    },
    PhoneAction(
      name: "cut",
      summary: "connections to the phone break off: after=N bytes (0: accepted, then gone at once), direction=out|in "
        + "(the phone's bytes, or the host's), kind=close|reset|stall, port=N or service=NAME (all if not given), "
        + "count=N; clear=yes takes all cuts back",
      keys: ["after", "direction", "kind", "port", "service", "count", "clear"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let directions = PortCut.Direction.allCases.map(\.rawValue)
      let kinds = PortCut.Kind.allCases.map(\.rawValue)
      let port = try values.integer("port", in: 1...65_535).map(String.init)
      let cut = PortCut(
        after: try values.integer("after", in: 0...1 << 40) ?? 0,
        direction: .init(rawValue: try values.word("direction", of: directions, else: directions[0])) ?? .out,
        kind: .init(rawValue: try values.word("kind", of: kinds, else: kinds[0])) ?? .close,
        place: try values["service"].map { name throws(ActionError) in try DeviceServices.known(name) } ?? port,
        left: try values.integer("count", in: 1...1_000_000))
      let clears = try values.flag("clear", else: false)
      phone.state.with {
        if clears {
          $0.cuts = []
        } else {
          $0.cuts.removeAll { $0.place == cut.place }
          $0.cuts.append(cut)
        }
      }
    },
  ]
}

extension DeviceServices {
  /// - Returns: the name itself, if a service is started under it.
  static func known(_ name: String) throws(ActionError) -> String {
    let names = all.flatMap(\.names)
    guard names.contains(name) else {
      throw Spelling.refusal(
        "There is no service \(name).", meant: name, among: names.sorted(), next: "service=\(names[0])")
    }
    return name
  }
}
