import Wire

extension PhoneWork {
  /// Bytes of a report that are read; real ones have some hundred thousand.
  private static let reportLimit = 4 << 20
  /// Reports of one app that are looked at for the newest.
  private static let candidateLimit = 256

  /// The newest report of the executable's that is not older than `age`.
  func crash(of executable: String, within age: Duration?) throws(PhoneError) -> CrashReport? {
    try bringReports()
    let now = try value("TimeIntervalSince1970").flatMap(Self.seconds)
    let afc = AFCClient(try open("com.apple.crashreportcopymobile"), udid)
    guard let found = try newestReport(of: executable, afc) else { return nil }
    let (name, written) = found
    var old: Duration?
    if let now, let written { old = .seconds(max(0, now - Double(written) / 1e9)) }
    if let age, let old, old > age { return nil }
    let facts = CrashReport.facts(try afc.read("/\(name)", limit: Self.reportLimit))
    return CrashReport(name: PhoneText.clean(name), age: old, type: facts.type, topFrame: facts.topFrame)
  }

  /// Has the phone bring reports to where they can be read; it says `ping` when it is done.
  private func bringReports() throws(PhoneError) {
    let channel = try open("com.apple.crashreportmover")
    guard try channel.receive(4) == Array("ping".utf8) else {
      throw .badReply(udid, step: "gathering crash reports", detail: "no ping came")
    }
  }

  private func newestReport(
    of executable: String, _ afc: AFCClient
  ) throws(PhoneError) -> (name: String, written: Int64?)? {
    let names = try afc.names(in: "/") ?? []
    // The name goes on with the moment, so that the last ones in order are the newest.
    let candidates = names.filter { Self.isReport($0, of: executable) }.sorted().suffix(Self.candidateLimit)
    var newest: (name: String, written: Int64?)?
    for name in candidates {
      guard let facts = try afc.facts(of: "/\(name)") else { continue }
      let written = facts["st_mtime"].flatMap { Int64($0) }
      if newest == nil || written ?? 0 >= newest?.written ?? 0 { newest = (name, written) }
    }
    return newest
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
