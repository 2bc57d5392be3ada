import Glibc
import Wire

/// One crash report as iOS writes it since 15: a line that says what it is, then the report; JSON both.
struct CrashReport: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    /// A pointer to nowhere.
    case segfault
    /// The app gave up: an exception of Objective-C, or `abort`.
    case abort
    /// Swift's checks: an index out of range, nil unwrapped.
    case trap
    /// Too slow to come up or to go away.
    case watchdog
    /// iOS needed the memory. This is no crash of the app, and the report is of another shape.
    case memory
  }

  /// The phone, as reports name it.
  struct System: Sendable {
    var model = "iPhone12,1"
    var ios = "16.7"
    var build = "20H19"
  }

  let kind: Kind
  let app: InstalledApp
  let pid: Int
  let system: System
  /// When it happened, and when the process had started.
  let at: WallTime
  let started: WallTime
  /// Names of functions are there for builds that carry them.
  var hasSymbols = true

  /// The file's name without its ending, as the phone makes it.
  var name: String {
    let moment = at.digits
    return kind == .memory ? "JetsamEvent-\(moment)" : "\(app.executable)-\(moment)"
  }

  var bytes: [UInt8] {
    let body = kind == .memory ? memoryBody : crashBody
    let lines = body.sorted { $0.key < $1.key }.map { "  \(JSON.string($0.key).line) : \($0.value.line)" }
    return Array("\(JSON.object(header).line)\n{\n\(lines.joined(separator: ",\n"))\n}\n".utf8)
  }

  var incident: String { InstalledApp.folderName(for: "incident \(app.bundle) \(pid) \(at.milliseconds)") }

  private var header: [String: JSON] {
    let osVersion: JSON = .string("iPhone OS \(system.ios) (\(system.build))")
    var header: [String: JSON] = [
      "bug_type": kind == .memory ? "298" : "309", "incident_id": .string(incident), "os_version": osVersion,
      "roots_installed": 0, "timestamp": .string(at.stamp),
    ]
    guard kind != .memory else { return header }
    header["app_name"] = .string(app.executable)
    header["app_version"] = .string(app.version)
    header["build_version"] = .string(app.build)
    header["bundleID"] = .string(app.bundle)
    header["is_first_party"] = .integer(app.kind == .system ? 1 : 0)
    header["name"] = .string(app.executable)
    header["platform"] = 2
    header["share_with_app_devs"] = 0
    header["slice_uuid"] = .string(InstalledApp.folderName(for: "image \(app.executable)").lowercased())
    return header
  }
}

extension WallTime {
  private var parts: tm {
    var seconds = time_t(milliseconds / 1000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    return parts
  }

  private static func padded(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }

  /// As in a report's file name: `2026-01-31-081500`.
  var digits: String {
    let parts = parts
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(Self.padded).joined()
    return "\(date)-\(time)"
  }

  /// As inside a report: `2026-01-31 08:15:00.00 +0000`.
  var stamp: String {
    let parts = parts
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(Self.padded).joined(separator: ":")
    return "\(date) \(time).\(Self.padded(Int32(milliseconds % 1000 / 10))) +0000"
  }

  private var date: String {
    let parts = parts
    return "\(parts.tm_year + 1900)-\(Self.padded(parts.tm_mon + 1))-\(Self.padded(parts.tm_mday))"
  }
}
