/// One connection's open files.
struct AFCHandles {
  /// How a file is open; the raw value is the wire's.
  enum Mode: UInt64, Sendable {
    case read = 1
    case readWrite = 2
    case write = 3
    case readWriteTruncated = 4
    case append = 5
    case readAppend = 6

    var reads: Bool { self != .write && self != .append }
    var writes: Bool { self != .read }
    var appends: Bool { self == .append || self == .readAppend }
    var truncates: Bool { self == .write || self == .readWriteTruncated }
  }

  struct Handle: Sendable {
    let path: String
    let file: FileTree.Number
    let mode: Mode
    var position = 0
    /// Bytes that went each way, for the journal.
    var read = 0
    var written = 0
  }

  static let limit = 64

  private(set) var open: [UInt64: Handle] = [:]
  private var last: UInt64 = 0

  var isFull: Bool { open.count >= Self.limit }

  mutating func add(_ handle: Handle) -> UInt64 {
    last += 1
    open[last] = handle
    return last
  }

  mutating func remove(_ number: UInt64) -> Handle? { open.removeValue(forKey: number) }

  subscript(number: UInt64) -> Handle {
    get throws(AFCCode) {
      guard let handle = open[number] else { throw .invalidArgument }
      return handle
    }
  }

  /// Where the handle stands now, and what went through it meanwhile.
  mutating func move(_ number: UInt64, to position: Int, read: Int = 0, written: Int = 0) {
    open[number]?.position = position
    open[number]?.read += read
    open[number]?.written += written
  }
}
