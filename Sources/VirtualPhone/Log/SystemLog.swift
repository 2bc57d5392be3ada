import Glibc
import Transport
import Wire

/// The phone's log: lines that go to whoever listens, and are kept nowhere.
final class SystemLog: Sendable {
  enum Level: String, CaseIterable, Sendable {
    case notice = "Notice"
    case info = "Info"
    case debug = "Debug"
    case error = "Error"
    case fault = "Fault"
  }

  struct Line: Equatable, Sendable {
    let at: WallTime
    let process: String
    /// The library that wrote it, where it is not the program itself.
    let library: String?
    let pid: Int
    let level: Level
    let text: String
  }

  /// Bytes of one line's text; the phone cuts longer ones.
  static let textLimit = 1024

  let lines = Board<Line>()

  func write(_ process: String, _ pid: Int, _ text: String, level: Level = .notice, library: String? = nil) {
    let line = Line(
      at: .now(), process: Self.plain(process, limit: 255), library: library.map { Self.plain($0, limit: 255) },
      pid: pid, level: level, text: Self.plain(text, limit: Self.textLimit))
    lines.post(line)
  }

  /// Records end with LF and NUL, so neither may stand inside.
  private static func plain(_ text: String, limit: Int) -> String {
    let cut = text.utf8.count <= limit ? text : String(decoding: text.utf8.prefix(limit), as: UTF8.self)
    return String(cut.map { $0 == "\n" || $0 == "\0" || $0 == "\r\n" ? " " : $0 })
  }
}

extension SystemLog.Line {
  /// As syslog_relay sends it, without the LF and NUL behind it.
  ///
  /// - Parameter device: the phone's name; no blank may stand in it, since readers split there.
  func text(on device: String) -> String {
    var seconds = time_t(at.milliseconds / 1000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let day = Self.padded(parts.tm_mday, " ")
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { Self.padded($0, "0") }.joined(separator: ":")
    let host = String(device.map { $0.isWhitespace ? "-" : $0 }.filter { $0 != "'" && $0 != "\0" })
    let from = process + (library.map { "(\($0))" } ?? "")
    return "\(months[Int(parts.tm_mon)]) \(day) \(time) \(host) \(from)[\(pid)] <\(level.rawValue)>: \(text)"
  }

  private static func padded(_ value: Int32, _ filler: String) -> String {
    value < 10 ? "\(filler)\(value)" : "\(value)"
  }
}
