import Wire

extension PhoneWork {
  /// Bytes of a report that are read; real ones have some hundred thousand.
  private static let reportLimit = 4 << 20
  /// Reports of one app that are looked at for the newest.
  private static let candidateLimit = 256
  /// Memory events that are read: each is about all processes, and most are about others than ours.
  private static let memoryEventLimit = 8

  /// The newest report of the executable's end that is not older than `age`: a crash of its own, or the system's account
  /// of what it ended to have memory again.
  func crash(of executable: String, within age: Duration?) throws(PhoneError) -> CrashReport? {
    try bringReports()
    let now = try value("TimeIntervalSince1970").flatMap(Self.seconds)
    let afc = AFCClient(try open("com.apple.crashreportcopymobile"), udid)
    let names = try afc.names(in: "/") ?? []
    func report(_ found: Found, _ facts: CrashFacts) -> CrashReport? {
      var old: Duration?
      if let now, let written = found.written { old = .seconds(max(0, now - Double(written) / 1e9)) }
      if let age, let old, old > age { return nil }
      return CrashReport(
        name: PhoneText.clean(found.name), age: old, type: facts.type, topFrame: facts.topFrame,
        ownFrame: facts.ownFrame)
    }
    let own = try newest(names.filter { Self.isReport($0, of: executable) }, Self.candidateLimit, afc).first
    for found in try newest(names.filter { Self.isReport($0, of: "JetsamEvent") }, Self.memoryEventLimit, afc) {
      if let own, own.written ?? 0 >= found.written ?? 0 { break }
      let bytes = try afc.read("/\(found.name)", limit: Self.reportLimit)
      if let facts = CrashFacts(memoryEvent: bytes, of: executable) { return report(found, facts) }
    }
    guard let own else { return nil }
    return report(own, CrashFacts(try afc.read("/\(own.name)", limit: Self.reportLimit)))
  }

  /// Has the phone bring reports to where they can be read; it says `ping` when it is done.
  private func bringReports() throws(PhoneError) {
    let channel = try open("com.apple.crashreportmover")
    guard try channel.receive(4) == Array("ping".utf8) else {
      throw .badReply(udid, step: "gathering crash reports", detail: "no ping came")
    }
  }

  private typealias Found = (name: String, written: Int64?)

  /// The newest so many of the reports, the newest first.
  private func newest(_ names: [String], _ limit: Int, _ afc: AFCClient) throws(PhoneError) -> [Found] {
    var found: [Found] = []
    // The name goes on with the moment, so that the last ones in order are the newest.
    for name in names.sorted().suffix(limit) {
      guard let facts = try afc.facts(of: "/\(name)") else { continue }
      found.append((name, facts["st_mtime"].flatMap { Int64($0) }))
    }
    return found.sorted { ($0.written ?? 0, $0.name) > ($1.written ?? 0, $1.name) }
  }

  /// `Executable-` and a date: another app's name may begin in the same way.
  static func isReport(_ name: String, of executable: String) -> Bool {
    name.hasPrefix("\(executable)-") && name.hasSuffix(".ips")
      && name.dropFirst(executable.count + 1).prefix(4).allSatisfy { $0.isASCII && $0.isNumber }
  }

  private static func seconds(_ value: Plist) -> Double? {
    if case .real(let seconds) = value { return seconds }
    return value.int.map(Double.init)
  }
}
