import Transport
import Wire

/// How the phone's services can be made to answer, and lines in its log.
enum RuleActions {
  private typealias Mounting = ServiceRules.Mounting
  private typealias Screenshots = ServiceRules.Screenshots

  static let all: [PhoneAction] = [
    AppActions.action(
      "log", "a line in the phone's log: text=WORDS, process=NAME (the app if not given), level=\(levels), count=N",
      ["text", "process", "level", "count"]
    ) { phone, values throws(ActionError) in
      let app = phone.app.installed(phone.app.settings.bundle)
      let process = values["process"] ?? app?.executable ?? "Kiosk"
      let level = try values.word("level", of: SystemLog.Level.allCases.map(\.word), else: "notice")
      let count = try values.integer("count", in: 1...100_000) ?? 1
      let pid = phone.processes.first { $0.value == process }?.key ?? 0
      for _ in 0..<count {
        phone.log.write(
          process, pid, values["text"] ?? "", level: SystemLog.Level.allCases.first { $0.word == level } ?? .notice)
      }
    },
    AppActions.action(
      "mount-fault",
      "the mounting of an image goes wrong: reply=\(words(Mounting.Reply.self)), detail=TEXT; lookup=array|single|"
        + "present|unsigned, how the phone says that an image is there; reply=none ends it",
      ["reply", "detail", "lookup"]
    ) { phone, values throws(ActionError) in
      let lookup = try values.choice("lookup", Mounting.Lookup.self, else: .array)
      // Alone, lookup= breaks nothing.
      let fallback = values["lookup"] == nil ? "failed" : "none"
      let word = try values.word("reply", of: ["none"] + Mounting.Reply.allCases.map(\.rawValue), else: fallback)
      phone.rules.with {
        $0.mount.reply = Mounting.Reply(rawValue: word)
        $0.mount.detail = values["detail"]
        $0.mount.lookup = lookup
      }
    },
    AppActions.action(
      "install-fault",
      "installations from the host go wrong: error=TOKEN (such as ApplicationVerificationFailed, DeviceOSVersionTooLow), "
        + "text=WORDS of the phone's own; kind=refused|hang|lost; kind=none ends it",
      ["error", "text", "kind"]
    ) { phone, values throws(ActionError) in
      let fault: ServiceRules.InstallFault?
      switch try values.word("kind", of: ["refused", "hang", "lost", "none"], else: "refused") {
      case "hang": fault = .hangs
      case "lost": fault = .lost
      case "none": fault = nil
      default:
        let error = values["error"] ?? "ApplicationVerificationFailed"
        fault = .refused(error: error, description: values["text"] ?? "The package was refused (\(error))")
      }
      phone.rules.with { $0.installFault = fault }
    },
    AppActions.action(
      "screen",
      "how pictures of the screen come: format=png|tiff, scale=1…8 (so many times fewer pixels), "
        + "fault=\(words(Screenshots.Fault.self)); alone: as they are",
      ["format", "scale", "fault"]
    ) { phone, values throws(ActionError) in
      let format = try values.choice("format", Screenshots.Format.self, else: .png)
      let scale = try values.integer("scale", in: 1...8) ?? 1
      let word = try values.word("fault", of: ["none"] + Screenshots.Fault.allCases.map(\.rawValue), else: "none")
      phone.rules.with {
        $0.screenshot = Screenshots(format: format, scale: scale, fault: Screenshots.Fault(rawValue: word))
      }
    },
  ]

  private static let levels = SystemLog.Level.allCases.map(\.word).joined(separator: "|")

  private static func words<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> String {
    type.allCases.map(\.rawValue).joined(separator: "|")
  }
}

extension SystemLog.Level {
  fileprivate var word: String { rawValue.lowercased() }
}
