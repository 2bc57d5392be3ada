import Transport
import Wire

/// os_trace_relay: the list of processes, and the log with all that belongs to a line.
struct OSTraceRelay: DeviceService {
  let names = ["com.apple.os_trace_relay"]
  let needs = ServiceNeeds()

  func serve(_ connection: ServiceConnection) {
    while let request = connection.receive() {
      switch request["Request"]?.string {
      // A byte that means nothing to anybody stands before the length.
      case "PidList": connection.send([1] + ServiceFrame.bytes(processes(of: connection.phone).xml))
      case "StartActivity": return stream(connection, pid: request["Pid"]?.int ?? -1)
      default:
        connection.send(["Status": "RequestFailed"])
        return
      }
    }
  }

  private func processes(of phone: VirtualPhone) -> Plist {
    let payload = phone.processes.map { ("\($0.key)", Plist.dictionary(["ProcessName": .string($0.value)])) }
    return [
      "Payload": .dictionary(Dictionary(payload, uniquingKeysWith: { _, last in last })),
      "Status": "RequestSuccessful",
    ]
  }

  /// - Parameter pid: lines of this process only; -1 for those of all.
  private func stream(_ connection: ServiceConnection, pid: Int) {
    let reply = Plist.dictionary(["Status": "RequestSuccessful"]).xml
    let size = Self.little(UInt32(reply.count))
    // The length of a length, then the length.
    guard connection.send(Self.little(UInt32(size.count)) + size + reply) else { return }
    let sender = LineSender(connection.stream) { line in
      let record = line.record
      return [2] + Self.little(UInt32(record.count)) + record
    }
    defer { sender.end() }
    let observation = connection.phone.log.lines.observe { if pid < 0 || $0.pid == pid { sender.send($0) } }
    defer { observation.end() }
    while let bytes = try? connection.stream.read(max: 256, by: .never), !bytes.isEmpty {}
  }

  fileprivate static func little(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }
}

extension SystemLog.Line {
  /// The binary record that other people's clients read: a fixed part, then the texts that it gives the sizes of.
  ///
  /// - Source: pymobiledevice3 11.45.0, services/os_trace.py; parts that it does not name are zero.
  fileprivate var record: [UInt8] {
    func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
    func little(_ value: some FixedWidthInteger) -> [UInt8] { OSTraceRelay.little(value) }
    let path = Array("/private/var/containers/\(process)".utf8) + [0]
    let image = Array((library ?? process).utf8) + [0]
    let message = Array(text.utf8) + [0]
    let micros = UInt32(at.milliseconds % 1000 * 1000)
    let parts: [[UInt8]] = [
      zeros(9), little(UInt32(truncatingIfNeeded: pid)), little(UInt64(truncatingIfNeeded: pid)), zeros(16), zeros(18),
      little(UInt32(truncatingIfNeeded: at.milliseconds / 1000)), zeros(4), little(micros), zeros(1), [level.code],
      zeros(6), zeros(8), zeros(8), zeros(16), little(UInt16(image.count)), little(UInt16(message.count)), zeros(2),
      zeros(4), zeros(4), zeros(4), zeros(4), path, image, message,
    ]
    return Array(parts.joined())
  }
}

extension SystemLog.Level {
  fileprivate var code: UInt8 {
    switch self {
    case .notice: 0x00
    case .info: 0x01
    case .debug: 0x02
    case .error: 0x10
    case .fault: 0x11
    }
  }
}
