import Transport
import Wire

/// com.apple.syslog_relay: the log as text, from the moment of connecting on.
///
/// - Source: the text stream of com.apple.syslog_relay, as Debian's idevicesyslog reads it.
struct SyslogRelay: DeviceService {
  let names = ["com.apple.syslog_relay"]
  let needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    let phone = connection.phone
    let sender = LineSender(connection.stream) { line in
      Array(line.text(on: phone.state.with { $0.name }).utf8) + [0x0A, 0]
    }
    defer { sender.end() }
    let observation = phone.log.lines.observe { sender.send($0) }
    defer { observation.end() }
    // Nothing is asked; the end of the stream is the host's way to stop.
    while let bytes = try? connection.stream.read(max: 256, by: .never), !bytes.isEmpty {}
  }
}

/// Log lines on their way to one host. One that reads too slowly loses lines, never its connection.
final class LineSender: Sendable {
  /// Lines that may wait for the host.
  static let limit = 1024

  private let outBox: OutBox
  private let encode: @Sendable (SystemLog.Line) -> [UInt8]
  private let lost = Guarded(0)

  init(_ stream: any ByteStream, _ encode: @escaping @Sendable (SystemLog.Line) -> [UInt8]) {
    outBox = OutBox(stream, limit: Self.limit, patience: nil)
    self.encode = encode
  }

  func send(_ line: SystemLog.Line) {
    let gap = lost.with { $0 }
    if gap > 0 {
      let note = SystemLog.Line(
        at: line.at, process: "syslog_relay", library: nil, pid: 57, level: .notice,
        text: "\(gap) lines were lost: they were read too slowly")
      if outBox.offer(encode(note)) { lost.with { $0 -= gap } }
    }
    if !outBox.offer(encode(line)) { lost.with { $0 += 1 } }
  }

  func end() { outBox.end() }
}
