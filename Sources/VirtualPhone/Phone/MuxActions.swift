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
      name: "mux-silent", summary: "the mux takes requests and answers none (for all phones): on=yes|no", keys: ["on"]
    ) { phone, values throws(ActionError) in
      phone.bus.setSilent(try ActionValues(values).flag("on", else: true))
    },
    PhoneAction(
      name: "mux-drop", summary: "the mux ends the connections of all who listen (for all phones)", keys: []
    ) { phone, _ in phone.bus.dropListeners() },
    PhoneAction(
      name: "mux-quit",
      summary: "the mux ends, its socket goes, and it comes back with numbers from 1 (for all phones): for=TIME, 6s if "
        + "not given",
      keys: ["for"]
    ) { phone, values throws(ActionError) in
      phone.bus.daemon?.quit(for: try ActionValues(values).duration("for") ?? .seconds(6))
    },
  ]
}
