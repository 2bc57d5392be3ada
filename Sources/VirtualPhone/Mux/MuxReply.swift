import Wire

/// The mux's answers.
enum MuxReply {
  /// Result numbers that are no errno.
  enum Number: Int32, Sendable {
    case ok = 0
    case badCommand = 1
    case badDevice = 2
    case connectionRefused = 3
    case badVersion = 6
  }

  static func result(_ number: Number) -> Plist { result(number.rawValue) }

  static func result(_ number: Int32) -> Plist { ["MessageType": "Result", "Number": .integer(Int64(number))] }

  /// As the binary protocol (version 0) has it.
  static func binaryResult(_ number: Number, tag: UInt32) -> MuxFrame {
    let payload = withUnsafeBytes(of: UInt32(bitPattern: number.rawValue).littleEndian) { Array($0) }
    return MuxFrame(version: 0, message: 1, tag: tag, payload: payload)
  }
}
