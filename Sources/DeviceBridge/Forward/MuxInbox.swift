import Transport
import Wire

/// Messages of the daemon as they come in, each as its payload, without waiting; never reads beyond the message at hand,
/// since a phone's bytes may follow it.
struct MuxInbox {
  /// The daemon's own limit for messages; only lists of phones are longer.
  private static let limit = 0x10000
  private var bytes: [UInt8] = []
  private var payloadSize: Int?

  /// The next message; nil when it is not whole yet.
  mutating func next(on socket: Socket) throws(MuxFailure) -> [UInt8]? {
    while true {
      let wanted = payloadSize ?? MuxFrame.headerSize
      if bytes.count < wanted {
        guard let part = try Self.read(wanted - bytes.count, on: socket) else { return nil }
        bytes += part
        continue
      }
      let whole = bytes
      bytes = []
      if payloadSize != nil {
        payloadSize = nil
        return whole
      }
      do throws(FrameError) { payloadSize = try MuxFrame.header(whole, limit: Self.limit).payloadSize } catch {
        throw .nonsense(error.sentence)
      }
    }
  }

  static func plist(_ payload: [UInt8]) throws(MuxFailure) -> Plist {
    do throws(PlistError) { return try Plist(parsing: payload) } catch { throw .nonsense(error.sentence) }
  }

  private static func read(_ count: Int, on socket: Socket) throws(MuxFailure) -> [UInt8]? {
    let part: [UInt8]?
    do throws(StreamError) { part = try socket.readNow(max: count) } catch { throw .stream(error) }
    if let part, part.isEmpty { throw .stream(.closed) }
    return part
  }
}
