import Fleet
import Wire

/// Steps that look at the phone beside the door.
struct LookReader {
  let reading: Reading

  func revive(_ node: YAMLNode) -> ReviveStep? {
    guard let text = reading.text(node) else { return nil }
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let kind = OutcomeKind(rawValue: parts[0]) else {
      let words = OutcomeKind.allCases.map(\.rawValue)
      let near = NearestWord.to(parts[0], among: words)
      let hint = near.map { "'\($0)' is meant?" } ?? "it is one of: \(words.joined(separator: ", "))"
      reading.wrong(node, "'\(parts[0])' is no outcome; \(hint)")
      return nil
    }
    guard parts.count == 2 else { return ReviveStep(kind: kind) }
    let reasons = kind.reasons.map(\.rawValue)
    if let reason = kind.reasons.first(where: { $0.rawValue == parts[1] }) {
      return ReviveStep(kind: kind, reason: reason)
    }
    let near = NearestWord.to(parts[1], among: reasons)
    let hint =
      reasons.isEmpty
      ? "it has none" : near.map { "'\($0)' is meant?" } ?? "they are: \(reasons.joined(separator: ", "))"
    reading.wrong(node, "'\(parts[1])' is no reason of \(kind.rawValue); \(hint)")
    return nil
  }

  func ready(_ node: YAMLNode, _ fields: Fields) -> ReadyStep? {
    var ready = Expectation()
    ready.status = 200
    let expectation = fields["expect"].map { ExpectationReader(reading).expectation($0) } ?? ready
    guard let form = reading.fields(node, StepKind.readyForm) else { return nil }
    let kind = form.required("for") { reading.word($0, as: CaptureWish.Kind.self) }
    let camera = form.required("camera", reading.filledText)
    guard let kind, let camera, let expectation else { return nil }
    return ReadyStep(
      wish: CaptureWish(kind: kind, camera: camera), expectation: expectation,
      within: fields["within"].flatMap(reading.positiveDuration))
  }

  func app(_ node: YAMLNode) -> AppStep? {
    guard let fields = reading.fields(node, StepKind.appForm) else { return nil }
    var step = AppStep()
    fields.set("absent", &step.absent, reading.texts)
    fields.set("present", &step.present, reading.texts)
    fields.set("contains", &step.contains) { RequestReader(reading).namedTexts($0, "contains") }
    guard step == AppStep() else { return step }
    // What was refused has been said; what is left is an empty look.
    if fields.entries.isEmpty {
      reading.wrong(node, "app looks at nothing; it names one of: \(StepKind.appForm.keys.joined(separator: ", "))")
    }
    return nil
  }

  func files(_ node: YAMLNode, _ fields: Fields) -> FilesStep? {
    guard let form = reading.fields(node, StepKind.filesForm) else { return nil }
    guard let entry = only(form, node), let pattern = reading.filledText(entry.value) else { return nil }
    let parts = pattern.split(separator: "/", omittingEmptySubsequences: false)
    guard let last = parts.last, !last.isEmpty, !parts.contains("..") else {
      reading.wrong(entry.value, "'\(pattern)' is no path in the app's container; one is written tmp/clip-*.mov")
      return nil
    }
    if parts.dropLast().contains(where: { $0.contains("*") || $0.contains("?") }) {
      reading.wrong(entry.value, "* and ? stand in the last part of a path only: tmp/clip-*.mov")
      return nil
    }
    let within = fields["within"].flatMap(reading.positiveDuration)
    return FilesStep(some: entry.key == "some", pattern: pattern, within: within)
  }

  func screen(_ node: YAMLNode, _ fields: Fields) -> ScreenStep? {
    guard let form = reading.fields(node, StepKind.screenForm) else { return nil }
    guard let entry = only(form, node), let colour = reading.text(entry.value) else { return nil }
    guard colour == "red" else {
      reading.wrong(entry.value, "'\(colour)' is no colour that is looked for; the band is red")
      return nil
    }
    return ScreenStep(band: entry.key == "band", within: fields["within"].flatMap(reading.positiveDuration))
  }

  func log(_ node: YAMLNode, _ fields: Fields) -> LogStep? {
    guard let form = reading.fields(node, StepKind.logForm),
      let entry = form.required("contains", { $0 }), let text = reading.text(entry),
      reading.knowsNames(in: text, entry, free: true)
    else { return nil }
    guard !text.isEmpty else {
      reading.wrong(entry, "every line holds the empty text; name one that is looked for")
      return nil
    }
    return LogStep(contains: text, within: fields["within"].flatMap(reading.positiveDuration))
  }

  /// The one entry of a mapping that takes one of its keys.
  private func only(_ fields: Fields, _ node: YAMLNode) -> YAMLNode.Entry? {
    let known = fields.entries.filter {
      StepKind.filesForm.keys.contains($0.key) || StepKind.screenForm.keys.contains($0.key)
    }
    if known.count == 1 { return known[0] }
    if let second = known.dropFirst().first {
      reading.wrong(
        line: second.keyLine, column: second.keyColumn,
        "'\(second.key)' stands beside '\(known[0].key)'; a step looks for one of them")
    } else if fields.entries.isEmpty {
      reading.wrong(
        node, "there is nothing to look for here; write {none: …} or {some: …}, {band: red} or {no-band: red}")
    }
    return nil
  }
}
