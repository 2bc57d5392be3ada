import DeviceBridge
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

/// A forward to one phone, its events, and clients of it.
final class ForwardBench: Sendable {
  static let port: UInt16 = 8130
  let forward: Forward
  let events = Guarded<[Forward.Event]>([])

  /// - Parameter devices: the phone's ports, each behind a local one that the system chooses.
  init(
    to udid: UDID, at mux: MuxAddress, _ devices: [UInt16] = [ForwardBench.port], on host: String = "127.0.0.1",
    _ change: (inout Forward.Limits) -> Void = { _ in }
  ) throws {
    var limits = Forward.Limits()
    // A busy machine is no reason to give up; tests of the limit set their own.
    limits.connecting = .seconds(30)
    change(&limits)
    let events = events
    forward = try Forward(
      udid, devices.map { Forward.Port(local: 0, device: $0) }, on: host, mux: mux, limits: limits
    ) { event in events.with { $0.append(event) } }
  }

  convenience init(
    _ bench: Bench, _ devices: [UInt16] = [ForwardBench.port], on host: String = "127.0.0.1",
    _ change: (inout Forward.Limits) -> Void = { _ in }
  ) throws {
    try self.init(to: bench.fleet.phones[0].udid, at: bench.mux, devices, on: host, change)
  }

  deinit { forward.stop(by: .patient) }

  func client(_ index: Int = 0) throws(StreamError) -> Socket {
    try Socket.connect(to: forward.addresses[index], by: .patient)
  }

  /// Sends, ends its sending where that is asked for, and reads to the phone's end.
  func call(_ request: String = "hello\n", endsSending: Bool = false) async throws(StreamError) -> [UInt8] {
    let client = try client()
    defer { client.close() }
    try client.write(Array(request.utf8), by: .patient)
    if endsSending { client.endSending() }
    return try await client.rest()
  }

  /// Whether a client is turned away with a reset.
  func turnsAway() async -> Bool {
    do throws(StreamError) {
      _ = try await call()
      return false
    } catch {
      return error == .closed || error == .system(ECONNRESET)
    }
  }

  func tells(_ event: Forward.Event) async -> Bool { await eventually { self.events.with { $0.contains(event) } } }
}

extension Socket {
  /// Everything up to the end of the stream; read on a thread of its own.
  func rest() async throws(StreamError) -> [UInt8] {
    let result: Result<[UInt8], StreamError> = await withCheckedContinuation { continuation in
      _ = Worker(name: "reader") {
        var bytes: [UInt8] = []
        do throws(StreamError) {
          while case let part = try self.read(max: 1 << 18, by: .patient), !part.isEmpty { bytes += part }
          continuation.resume(returning: .success(bytes))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    return try result.get()
  }

  /// One line, its end included; what came when the stream ends before.
  func line() -> String {
    var bytes: [UInt8] = []
    while bytes.last != UInt8(ascii: "\n"), let part = try? read(max: 1, by: .patient), !part.isEmpty { bytes += part }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension Bench {
  /// Serves phone 1's port; the connection ends when the body returns.
  func serve(_ port: UInt16 = ForwardBench.port, _ body: @escaping @Sendable (Socket) -> Void) {
    fleet.phones[0].ports.listen(port, body)
  }

  /// Answers one line with itself, and closes.
  func serveOnce(_ port: UInt16 = ForwardBench.port) {
    serve(port) { socket in try? socket.write(Array(socket.line().utf8), by: .patient) }
  }

  /// Answers each line with itself, and stays.
  func serveEcho(_ port: UInt16 = ForwardBench.port) {
    serve(port) { socket in
      while case let line = socket.line(), !line.isEmpty { try? socket.write(Array(line.utf8), by: .patient) }
    }
  }
}

/// Bytes that differ from place to place, so that a lost or doubled one shows.
func pattern(_ count: Int) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
    for index in 0..<count { buffer[index] = UInt8(truncatingIfNeeded: index &* 31 &+ index >> 11) }
    size = count
  }
}
