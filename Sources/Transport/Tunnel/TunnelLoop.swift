import Glibc
import Wire

/// What a tunnel's thread does.
final class TunnelLoop: Sendable {
  let outbox: TunnelOutbox
  let end = Guarded<TunnelEnd?>(nil)
  let done = Latch()
  private let carrier: any TunnelCarrier
  private let interface: TunnelInterface
  private let early: [UInt8]
  private let onEnd: @Sendable (TunnelEnd) -> Void

  /// One read; the packets in it are taken in as one batch.
  private static let readSize = 64 << 10
  /// Reads before outgoing packets have their turn.
  private static let readsInARow = 4

  init(
    _ carrier: any TunnelCarrier, _ interface: TunnelInterface, _ outbox: TunnelOutbox, early: [UInt8],
    onEnd: @escaping @Sendable (TunnelEnd) -> Void
  ) {
    self.carrier = carrier
    self.interface = interface
    self.outbox = outbox
    self.early = early
    self.onEnd = onEnd
  }

  func run() {
    var reason = TunnelEnd.closed
    do throws(TunnelEnd) { try carry() } catch { reason = outbox.closing == nil ? error : .closed }
    // First the streams, whose packets nobody takes any more; then what carried them.
    interface.close()
    outbox.end()
    carrier.close()
    end.with { $0 = reason }
    onEnd(reason)
    done.open()
  }

  /// Carries packets until the tunnel was closed and said goodbye.
  private func carry() throws(TunnelEnd) {
    var splitter = IPv6PacketSplitter()
    var writing = Writing()
    var mayHaveMore = true
    var isFinishing = false
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.readSize, alignment: 16)
    defer { buffer.deallocate() }
    carrier.readAhead()
    try takeEarly(&splitter)
    while true {
      if mayHaveMore { mayHaveMore = try read(buffer, &splitter) }
      if writing.isEmpty {
        let batch = outbox.take(isIdle: !mayHaveMore)
        writing = Writing(packets: batch.packets)
        if batch.wasRefused { interface.resume() }
      }
      if !writing.isEmpty, try write(&writing) { continue }
      if let closing = outbox.closing {
        if !isFinishing {
          isFinishing = true
          interface.finish()
          continue
        }
        if closing.hasPassed || writing.isEmpty && !interface.hasUnsent { return }
      }
      if !mayHaveMore { mayHaveMore = try sleep(isBlocked: !writing.isEmpty) }
    }
  }

  // MARK: - In

  /// - Returns: whether there may be more to read at once.
  private func read(
    _ buffer: UnsafeMutableRawBufferPointer, _ splitter: inout IPv6PacketSplitter
  ) throws(TunnelEnd) -> Bool {
    for _ in 0..<Self.readsInARow {
      let count: Int?
      do throws(StreamError) {
        count = try carrier.readNow(into: buffer)
      } catch {
        throw error == .closed ? .peerEnded : .failed(error)
      }
      guard let count else { return false }
      if count == 0 { throw .peerEnded }
      try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]), &splitter)
    }
    return true
  }

  private func take(_ bytes: UnsafeRawBufferPointer, _ splitter: inout IPv6PacketSplitter) throws(TunnelEnd) {
    do throws(TunnelError) {
      try interface.receive { packet throws(TunnelError) in try splitter.feed(bytes, packet) }
    } catch { throw .outOfStep(error) }
  }

  private func takeEarly(_ splitter: inout IPv6PacketSplitter) throws(TunnelEnd) {
    do throws(TunnelError) {
      for packet in try splitter.feed(early) { interface.receive(packet) }
    } catch { throw .outOfStep(error) }
  }

  // MARK: - Out

  private struct Writing {
    var packets: [[UInt8]] = []
    var index = 0
    /// Bytes of the packet at hand that are written.
    var offset = 0

    var isEmpty: Bool { index == packets.count }
  }

  /// Writes each packet on its own.
  ///
  /// - Returns: whether all are written; the connection is full otherwise.
  private func write(_ writing: inout Writing) throws(TunnelEnd) -> Bool {
    while !writing.isEmpty {
      let count: Int
      do throws(StreamError) {
        count = try carrier.writeNow(writing.packets[writing.index][writing.offset...])
      } catch .closed {
        // What the far end sent before it went is still there, and the end behind it: reading tells.
        writing = Writing()
        return true
      } catch {
        throw .failed(error)
      }
      if count == 0 { return false }
      writing.offset += count
      if writing.offset == writing.packets[writing.index].count {
        writing.index += 1
        writing.offset = 0
      }
    }
    return true
  }

  // MARK: - Waiting

  /// Waits for bytes, for room if that is wanted, for packets and for the end.
  ///
  /// - Returns: whether there may be something to read.
  private func sleep(isBlocked: Bool) throws(TunnelEnd) -> Bool {
    let wanted = Int16(POLLIN) | (isBlocked ? Int16(POLLOUT) : 0)
    var entries = [
      pollfd(fd: carrier.fd, events: wanted, revents: 0),
      pollfd(fd: outbox.waker.fd, events: Int16(POLLIN), revents: 0),
    ]
    let code = poll(&entries, 2, outbox.closing?.pollMilliseconds ?? -1)
    guard code >= 0 || errno == EINTR else { throw .failed(.system(errno)) }
    if entries[1].revents != 0 { outbox.waker.clear() }
    return entries[0].revents & ~Int16(POLLOUT) != 0
  }
}
