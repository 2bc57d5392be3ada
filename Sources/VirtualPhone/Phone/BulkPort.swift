import Transport

/// A device port that sends bytes as fast as they are taken, for measuring what lies between it and the host's program.
extension DeviceActions {
  static let bulk: [PhoneAction] = [
    PhoneAction(
      name: "bulk",
      summary:
        "a device port that sends zeros to whoever connects, and the same port in tunnels that are opened from now "
        + "on: port=N, bytes=N and then the end (without end if not given); open=no refuses again",
      keys: ["port", "bytes", "open"]
    ) { phone, values throws(ActionError) in
      let values = ActionValues(values)
      let port = UInt16(clamping: try values.integer("port", in: 1...65_535) ?? 9100)
      let bytes = try values.integer("bytes", in: 0...1 << 50) ?? .max
      if try values.flag("open", else: true) {
        phone.ports.listen(port) { sendZeros(bytes, to: $0) }
        phone.rules.with { $0.remote.bulk[port] = bytes }
      } else {
        phone.ports.close(port)
        phone.rules.with { $0.remote.bulk[port] = nil }
      }
    }
  ]

  static func sendZeros(_ count: Int, to stream: any ByteStream) {
    let zeros = [UInt8](repeating: 0, count: 1 << 18)
    var left = count
    do throws(StreamError) {
      while left > 0 {
        try stream.write(left < zeros.count ? Array(zeros.prefix(left)) : zeros, by: .never)
        left -= min(left, zeros.count)
      }
    } catch {
      // Whoever connected has gone.
    }
  }
}
