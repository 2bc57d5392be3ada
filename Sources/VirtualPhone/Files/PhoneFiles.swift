import Transport

/// The folder trees of the phone itself, in memory only: the media folder and the crash reports.
final class PhoneFiles: Sendable {
  /// What `com.apple.afc` shows.
  let media: Guarded<FileTree>
  /// What `com.apple.crashreportcopymobile` shows.
  let crashReports: Guarded<FileTree>
  /// Reports that stand elsewhere until the crash report mover is asked to bring them.
  private let waiting = Guarded([(name: String, bytes: [UInt8], moment: Int64)]())

  private static let waitingLimit = 64

  init() {
    var media = FileTree()
    for folder in ["Books", "DCIM/100APPLE", "Downloads", "PhotoData", "PublicStaging", "iTunes_Control/iTunes"] {
      try? media.makeFolder(folder)
    }
    var reports = FileTree(bytes: 16 << 20, entries: 2_000)
    for folder in ["DiagnosticLogs", "Retired"] { try? reports.makeFolder(folder) }
    self.media = Guarded(media)
    crashReports = Guarded(reports)
  }

  /// A name that no report has yet: the phone numbers those of one second.
  func freeReportName(_ name: String) -> String {
    let used = crashReports.with { Set($0.files(in: "/").keys) }.union(waiting.with { Set($0.map(\.name)) })
    guard used.contains("\(name).ips") else { return "\(name).ips" }
    let number = (1...).first { !used.contains("\(name).\(Self.padded($0)).ips") } ?? 1
    return "\(name).\(Self.padded(number)).ips"
  }

  /// - Parameters:
  ///   - moment: when it was written, in nanoseconds since 1970.
  ///   - waits: whether the mover has to bring it first.
  func addReport(_ name: String, _ bytes: [UInt8], at moment: Int64, waits: Bool) {
    if waits {
      waiting.with { if $0.count < Self.waitingLimit { $0.append((name, bytes, moment)) } }
    } else {
      // A full folder takes no more, as on the phone.
      crashReports.with { try? $0.put("/\(name)", bytes, at: moment) }
    }
  }

  /// The mover's work.
  ///
  /// - Returns: how many reports it has brought.
  func moveReports() -> Int {
    let reports = waiting.with { waiting in
      defer { waiting = [] }
      return waiting
    }
    for report in reports { addReport(report.name, report.bytes, at: report.moment, waits: false) }
    return reports.count
  }

  private static func padded(_ number: Int) -> String {
    String(repeating: "0", count: max(0, 3 - "\(number)".count)) + "\(number)"
  }
}
