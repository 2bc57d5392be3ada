import Wire

/// Written and read without loss; times in nanoseconds.
extension WatchMemory {
  public var json: JSON {
    [
      "revision": .integer(Int64(revision)), "stamp": stamp?.json ?? .null, "launches": .array(launches.map(\.json)),
      "launch_count": .integer(Int64(launchCount)), "revivals": .integer(Int64(revivals)),
      "flaps": .integer(Int64(flaps)), "proven": .boolean(isProven), "launched": .boolean(launchedSinceRow),
      "launch_end": .text(launchEnd?.text), "refusal": refusal?.json ?? .null,
      "mount_tried": .text(mountTried), "last_answer_ns": lastAnswer.map { .integer($0.inNanoseconds) } ?? .null,
    ]
  }

  /// - Returns: nil for anything that `json` would not write.
  public init?(_ json: JSON) {
    guard let revision = json["revision"]?.int, let launches = json["launches"]?.array,
      let launchCount = json["launch_count"]?.int, let revivals = json["revivals"]?.int,
      let flaps = json["flaps"]?.int, let isProven = json["proven"]?.boolean,
      let launched = json["launched"]?.boolean
    else { return nil }
    self.revision = revision
    self.launchCount = launchCount
    self.revivals = revivals
    self.flaps = flaps
    self.isProven = isProven
    launchedSinceRow = launched
    for entry in launches {
      guard let stamp = LaunchStamp(entry) else { return nil }
      self.launches.append(stamp)
    }
    guard Self.read(json["stamp"], LaunchStamp.init, into: &stamp),
      Self.read(json["launch_end"], { $0.string.flatMap(OutcomeWords.init(text:)) }, into: &launchEnd),
      Self.read(json["refusal"], Refusal.init, into: &refusal),
      Self.read(json["mount_tried"], { $0.string }, into: &mountTried),
      Self.read(json["last_answer_ns"], { $0.int.map { .nanoseconds($0) } }, into: &lastAnswer)
    else { return nil }
  }

  /// - Returns: false for a value that is there and can't be read.
  private static func read<Value>(_ json: JSON?, _ parse: (JSON) -> Value?, into value: inout Value?) -> Bool {
    guard let json else { return false }
    if json == .null { return true }
    value = parse(json)
    return value != nil
  }
}

extension WatchMemory.Refusal {
  var json: JSON { ["reason": .string(reason.rawValue), "fact": .text(fact)] }

  init?(_ json: JSON) {
    guard let reason = json["reason"]?.string.flatMap(OutcomeReason.init), let fact = json["fact"] else { return nil }
    self.init(reason: reason, fact: fact.string)
  }
}
