import Glibc
import Testing
import Transport
import Wire

/// Two ends of a tunnel joined in this process: what one sends, the other receives, in order.
final class Cable: Sendable {
  let near: TunnelInterface
  let far: TunnelInterface
  private let outward: Lane
  private let homeward: Lane

  /// - Parameter limit: packets that wait in each direction before the sink refuses more.
  init(host: String = "fd00::2", phone: String = "fd00::1", limit: Int = 256) throws {
    let host = try #require(IPv6Address(host))
    let phone = try #require(IPv6Address(phone))
    let outward = Lane(limit: limit)
    let homeward = Lane(limit: limit)
    near = try TunnelInterface(address: host, peer: phone, mtu: 1500) { outward.put($0) }
    far = try TunnelInterface(address: phone, peer: host, mtu: 1500) { homeward.put($0) }
    outward.start(from: near, to: far)
    homeward.start(from: far, to: near)
    self.outward = outward
    self.homeward = homeward
  }

  deinit { cut() }

  /// Ends both interfaces and the threads between them.
  func cut() {
    near.close()
    far.close()
    outward.stop()
    homeward.stop()
  }

  /// The sizes of the packets that the near end sent so far.
  var sent: [Int] { outward.sizes }
  /// Lets nothing through to the far end until `release`.
  func hold() { outward.hold(true) }
  func release() { outward.hold(false) }

  /// A connection and its far end.
  func connect() throws -> (TunnelStream, TunnelStream) {
    let port = try far.listen()
    defer { far.unlisten(port: port) }
    let near = try near.connect(port: port, by: .after(.seconds(5)))
    let far = try #require(self.far.accept(by: .after(.seconds(5))))
    return (near, far)
  }
}

/// One direction of a cable: a bounded queue and the thread that empties it.
final class Lane: Sendable {
  private struct State {
    var packets: [[UInt8]] = []
    var sizes: [Int] = []
    var isHeld = false
    var wasRefused = false
    var isOver = false
  }

  private let state = Guarded(State())
  private let limit: Int
  private let news = Semaphore()
  private let done = Latch()

  init(limit: Int) { self.limit = limit }

  func put(_ packet: UnsafeRawBufferPointer) -> Bool {
    let bytes = Array(packet)
    let isTaken = state.with { state in
      guard state.packets.count < limit else {
        state.wasRefused = true
        return false
      }
      state.packets.append(bytes)
      state.sizes.append(bytes.count)
      return true
    }
    news.signal()
    return isTaken
  }

  var sizes: [Int] { state.with { $0.sizes } }

  func hold(_ isHeld: Bool) {
    state.with { $0.isHeld = isHeld }
    news.signal()
  }

  func start(from: TunnelInterface, to: TunnelInterface) {
    let (state, news, done) = (state, news, done)
    _ = Worker(name: "cable") {
      defer { done.open() }
      while true {
        news.wait()
        let (packets, wasRefused, isOver) = state.with { state in
          guard !state.isHeld else { return ([[UInt8]](), false, state.isOver) }
          defer {
            state.packets = []
            state.wasRefused = false
          }
          return (state.packets, state.wasRefused, state.isOver)
        }
        if isOver { return }
        to.receive { take in
          for packet in packets { packet.withUnsafeBytes(take) }
        }
        if wasRefused { from.resume() }
      }
    }
  }

  func stop() {
    state.with { $0.isOver = true }
    news.signal()
    _ = done.wait(until: .after(.seconds(5)))
  }
}

/// A counting semaphore of the system's.
final class Semaphore: @unchecked Sendable {
  private let raw = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
  init() { sem_init(raw, 0, 0) }
  deinit {
    sem_destroy(raw)
    raw.deallocate()
  }
  func signal() { sem_post(raw) }
  func wait() { while sem_wait(raw) != 0 {} }
}
