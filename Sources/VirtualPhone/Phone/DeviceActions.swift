import Transport
import Wire

/// What can be made to happen to the phone itself, its cable and its mux.
enum DeviceActions {
  static let all: [PhoneAction] = power + cable + trust + values + faults + services + mux + connections + bulk

  // MARK: - Lock and power

  private static let power: [PhoneAction] = [
    PhoneAction(
      name: "lock", summary: "press the side button: with a passcode set, the phone asks for it from now on", keys: []
    ) { phone, _ in phone.lock() },
    PhoneAction(
      name: "unlock", summary: "enter the passcode, also for the first time since boot", keys: []
    ) { phone, _ in phone.unlock() },
    PhoneAction(
      name: "passcode", summary: "whether a passcode is set (set=yes|no); taking it away unlocks", keys: ["set"]
    ) { phone, values throws(ActionError) in
      let isSet = try ActionValues(values).flag("set", else: true)
      phone.state.with { $0.passcodeSet = isSet }
      if !isSet { phone.unlock() }
    },
    PhoneAction(
      name: "reboot",
      summary: "off the bus, the app dead, back under a new number (for=TIME, now if not given; back=no stays away; "
        + "first-unlock=password-protected|invalid-host-id|session-only, what a host meets until then; unlock=TIME: the "
        + "passcode is entered so long after it is back; image=gone|mounted: as if somebody had mounted it again)",
      keys: ["for", "back", "first-unlock", "unlock", "image"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let words = PhoneState.BeforeFirstUnlock.allCases.map(\.rawValue)
      let word = try values.word("first-unlock", of: words, else: words[0])
      phone.state.with { $0.beforeFirstUnlock = PhoneState.BeforeFirstUnlock(rawValue: word) ?? .passwordProtected }
      let unlock = try values.duration("unlock")
      let hasImage = try values.word("image", of: ["gone", "mounted"], else: "gone") == "mounted"
      phone.reboot(
        away: try values.duration("for") ?? .zero, comesBack: try values.flag("back", else: true), unlocked: unlock,
        hasImage: hasImage)
    },
    PhoneAction(
      name: "battery", summary: "percent=0…100, charging=yes|no, temperature=DEGREES (Celsius), cycles=COUNT",
      keys: ["percent", "charging", "temperature", "cycles"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      var battery = phone.state.with { $0.battery }
      battery.percent = try values.integer("percent", in: 0...100) ?? battery.percent
      battery.charging = try values.flag("charging", else: battery.charging)
      battery.temperature = try values.number("temperature", in: -40...120) ?? battery.temperature
      battery.cycles = try values.integer("cycles", in: 0...100_000) ?? battery.cycles
      phone.state.with { $0.battery = battery }
    },
    PhoneAction(name: "name", summary: "give the phone another name (to=TEXT)", keys: ["to"]) { phone, values in
      phone.state.with { $0.name = values["to"] ?? phone.identity.name }
    },
    PhoneAction(
      name: "developer-mode", summary: "the switch in Settings of iOS 16 and later (on=yes|no)", keys: ["on"]
    ) { phone, values throws(ActionError) in
      let isOn = try ActionValues(values).flag("on", else: true)
      phone.state.with { $0.developerMode = isOn }
    },
    PhoneAction(name: "mount", summary: "the developer image is mounted", keys: []) { phone, _ in
      phone.rules.with { $0.mount.signature = nil }
      phone.state.with { $0.developerImageMounted = true }
      phone.notifications.post("com.apple.mobile.developer_image_mounted")
    },
    PhoneAction(name: "unmount", summary: "the developer image is not mounted", keys: []) { phone, _ in
      phone.state.with { $0.developerImageMounted = false }
    },
  ]

  // MARK: - Cable and list

  private static let cable: [PhoneAction] = [
    PhoneAction(
      name: "attach",
      summary:
        "plug the cable in; the phone gets a new number (when=now|listen: just before the next Listen is answered; "
        + "listed=no: the mux keeps it to itself until it is replugged)",
      keys: ["when", "listed"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let isHidden = try !values.flag("listed", else: true)
      switch try values.word("when", of: ["now", "listen"], else: "now") {
      case "listen": phone.bus.attachOnListen(phone)
      default:
        if isHidden { phone.bus.attach(phone, isHidden: true) } else { phone.plugIn() }
      }
    },
    PhoneAction(
      name: "detach",
      summary:
        "pull the cable: every connection to the phone ends (after=TIME, now if not given; for=TIME: it is plugged "
        + "in again, under a new number)",
      keys: ["after", "for"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      phone.unplug(after: try values.duration("after") ?? .zero, for: try values.duration("for"))
    },
    PhoneAction(
      name: "list-as",
      summary: "how the mux lists the phone: network=none|after|before|only, serial=plain|hyphenless|upper|lower, "
        + "address=a|b|c|d|e|f (a network entry's: BSD v4, wide v4, BSD v6, empty, junk, absent), twice=yes|no, "
        + "record=listed|own (under which spelling the pair record is found)",
      keys: ["network", "address", "serial", "twice", "record"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      var listing = MuxListing()
      let networks = MuxListing.Network.allCases.map(\.rawValue)
      let serials = MuxListing.Serial.allCases.map(\.rawValue)
      listing.network = .init(rawValue: try values.word("network", of: networks, else: networks[0])) ?? .none
      listing.serial = .init(rawValue: try values.word("serial", of: serials, else: serials[0])) ?? .plain
      let layouts = MuxListing.Address.allCases.map(\.rawValue)
      listing.address = .init(rawValue: try values.word("address", of: layouts, else: "c")) ?? .bsd6
      listing.twice = try values.flag("twice", else: false)
      if try values.word("record", of: ["listed", "own"], else: "listed") == "own" {
        phone.bus.records.keepOnlyOwnSpelling(of: phone.udid)
      } else {
        phone.bus.records.copy(phone.udid, to: listing.spelling(of: phone.udid))
      }
      phone.bus.relist(phone, as: listing)
    },
  ]

  // MARK: - Trust

  private static let trust: [PhoneAction] = [
    PhoneAction(
      name: "trust",
      summary: "mode=now: phone and mux know each other · ask: no record, the dialog shows (answers=N: Trust is tapped "
        + "after N requests, after=TIME: after that time, replug=TIME: the phone then leaves and is back so much later, "
        + "trusted) · accept: Trust is tapped · deny: refused · forget: only the phone has forgotten",
      keys: ["mode", "answers", "after", "replug"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let mode = try values.word("mode", of: ["now", "ask", "accept", "deny", "forget"], else: "now")
      let (delay, gap) = (try values.duration("after"), try values.duration("replug"))
      phone.trust(mode, pendingAnswers: try values.integer("answers", in: 0...1_000_000))
      if mode == "ask", delay != nil || gap != nil { phone.tapTrust(after: delay ?? .zero, replugged: gap) }
    },
    PhoneAction(
      name: "untrust", summary: "neither the phone nor the mux has a record of the other", keys: []
    ) { phone, _ in phone.untrust() },
  ]
}
