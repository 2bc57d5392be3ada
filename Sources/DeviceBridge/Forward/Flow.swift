import Glibc
import Transport

/// One end of a connection that is being forwarded.
struct End {
  let socket: Socket
  let token: Poller.Token
  // So until the kernel says otherwise.
  fileprivate(set) var canRead = true
  fileprivate(set) var canWrite = true
  /// The far end neither sends nor takes anything any more.
  private(set) var isOver = false
  private(set) var isBroken = false

  init(_ socket: Socket, _ token: Poller.Token) {
    self.socket = socket
    self.token = token
  }

  /// A connection that is being made; the handler hears how it goes.
  init(connectingTo address: SocketAddress, _ poller: Poller, _ handler: @escaping Poller.Handler) throws(StreamError) {
    socket = try Socket.begin(connectingTo: address)
    token = try poller.watch(socket.fd, handler)
  }

  func close(_ poller: Poller) {
    poller.forget(token)
    socket.close()
  }

  mutating func note(_ readiness: Readiness) {
    if readiness.canRead { canRead = true }
    if readiness.canWrite { canWrite = true }
    if readiness.isOver { isOver = true }
    if readiness.isBroken { isBroken = true }
  }
}

/// One direction of a connection.
struct Flow {
  enum Stop: Equatable {
    /// Nothing to do until an end is ready again.
    case waiting
    /// There is more; others have their turn first.
    case more
    /// Everything was delivered, and the source has ended.
    case ended
    /// Everything was delivered, and then the source broke.
    case sourceBroke
    case sinkBroke
    /// This host has no pipe left: an errno.
    case noPipe(Int32)
  }

  private enum Source { case open, ended, broken }
  private var source = Source.open
  private var pipe: Pipe?
  /// Bytes taken from the source so far.
  private(set) var moved: UInt64 = 0
  /// Whether more may come from the source.
  var isOpen: Bool { source == .open }

  /// Moves what can be moved now.
  mutating func run(from: inout End, to: inout End, pipes: PipeStore) -> Stop {
    var budget = 1 << 20
    while true {
      if let pipe, pipe.held > 0 {
        guard to.canWrite else { return .waiting }
        do throws(StreamError) {
          if try pipe.drain(to: to.socket.fd) == nil { to.canWrite = false }
        } catch {
          return .sinkBroke
        }
        continue
      }
      if source != .open || !from.canRead {
        if let pipe { pipes.giveBack(pipe) }
        pipe = nil
        return source == .open ? .waiting : source == .ended ? .ended : .sourceBroke
      }
      if budget <= 0 { return .more }
      let filling: Pipe
      do throws(StreamError) {
        if let pipe { filling = pipe } else { filling = try pipes.take() }
      } catch {
        if case .system(let code) = error { return .noPipe(code) }
        return .noPipe(EMFILE)
      }
      pipe = filling
      do throws(StreamError) {
        let count = try filling.fill(from: from.socket.fd)
        if count == nil { from.canRead = false }
        if count == 0 { source = .ended }
        moved += UInt64(count ?? 0)
        budget -= count ?? 0
      } catch {
        source = .broken
      }
    }
  }
}
