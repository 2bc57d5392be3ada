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
}
