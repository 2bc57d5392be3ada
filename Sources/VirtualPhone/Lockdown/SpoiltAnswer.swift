import Transport
import Wire

/// How a fault puts lockdownd's answer on the wire.
struct SpoiltAnswer {
  enum Next {
    case goOn
    case close
    case hang
  }

  /// Levels of `deep`, bytes of `huge`, if nobody says.
  private static let depth = 100_000
  private static let length = 16 << 20
  private static let chunk = 64 << 10
  private static let patience = Duration.seconds(30)

  let kind: LockdownFault.Kind
  let fault: LockdownFault
  let stream: any ByteStream
  /// nil in a tunnel.
  let socket: Socket?
  let clock: any PhoneClock

  /// - Returns: what becomes of the connection; it closes when the host has gone in the meantime.
  func send(_ answer: LockdownAnswer) -> Next {
    do throws(StreamError) { return try write(answer) } catch { return .close }
  }

  private func write(_ answer: LockdownAnswer) throws(StreamError) -> Next {
    let body = answer.bytes
    switch kind {
    case .close:
      if fault.isLate { try put(ServiceFrame.bytes(body)) }
      return .close
    case .hang:
      if fault.isLate { try put(ServiceFrame.bytes(body)) }
      return .hang
    case .garbage:
      try put(ServiceFrame.bytes(Array("<plist><dict><key>no".utf8)))
      return .close
    case .noise:
      try put((0..<256).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) })
      return .close
    case .half:
      try put([0, 0])
      return .close
    case .halfBody:
      try put(Self.firstHalf(body))
      return .close
    case .stall:
      try put(Self.firstHalf(body))
      return .hang
    case .empty: try put(ServiceFrame.bytes([]))
    case .echo: try put(changed(answer) { $0["Request"] = "NoSuchRequest" })
    case .mute: try put(changed(answer) { $0["Request"] = nil })
    case .mistyped: try put(changed(answer) { $0 = $0.mapValues(Self.asText) })
    case .oversized:
      try put([0xFF, 0xFF, 0xFF, 0xFF] + body)
      return .hang
    case .deep:
      let depth = fault.size ?? Self.depth
      try stream(answer, "<array>", "</array>", times: depth)
    case .huge: try stream(answer, "x", "", times: fault.size ?? Self.length)
    case .drip:
      for byte in ServiceFrame.bytes(body) {
        try put([byte])
        try clock.rest(fault.pause, on: socket)
      }
    }
    return .goOn
  }

  private func put(_ bytes: [UInt8]) throws(StreamError) { try stream.write(bytes, by: .after(Self.patience)) }

  private static func firstHalf(_ body: [UInt8]) -> [UInt8] {
    Array(ServiceFrame.bytes(body).prefix(ServiceFrame.headerSize + body.count / 2))
  }

  private func changed(_ answer: LockdownAnswer, _ change: (inout [String: Plist]) -> Void) -> [UInt8] {
    var answer = answer
    change(&answer.body)
    return ServiceFrame.bytes(answer.bytes)
  }

  private static func asText(_ value: Plist) -> Plist {
    switch value {
    case .boolean(let value): .string(value ? "true" : "false")
    case .integer(let value): .string(String(value))
    case .unsigned(let value): .string(String(value))
    case .real(let value): .string(String(value))
    case .string, .data, .date, .uid, .array, .dictionary: value
    }
  }

  /// The right names around a value that is a text many times over; never whole in memory.
  private func stream(
    _ answer: LockdownAnswer, _ opening: String, _ closing: String, times count: Int
  ) throws(StreamError) {
    let request = answer.body["Request"]?.string ?? ""
    let isText = closing.isEmpty
    let head =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\"><dict><key>Request</key>"
      + "<string>\(request.xmlEscaped)</string><key>Value</key>" + (isText ? "<string>" : "")
    let tail = (isText ? "</string>" : "") + "</dict></plist>\n"
    let parts = [(head, 1), (opening, count), (closing, count), (tail, 1)]
    let size = parts.reduce(0) { $0 + $1.0.utf8.count * $1.1 }
    try put(Array(withUnsafeBytes(of: UInt32(clamping: size).bigEndian) { Array($0) }))
    for (text, times) in parts where !text.isEmpty {
      let bytes = Array(text.utf8)
      var left = times
      while left > 0 {
        let now = min(left, max(1, Self.chunk / bytes.count))
        try put(Array(repeatElement(bytes, count: now).joined()))
        left -= now
      }
    }
  }
}

extension String {
  fileprivate var xmlEscaped: String {
    reduce(into: "") { text, letter in
      switch letter {
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      case "&": text += "&amp;"
      default: text.append(letter)
      }
    }
  }
}
