import Glibc
import Testing
import Transport

@Suite struct `a socket` {
  @Test func `carries bytes both ways and ends where the far end closes`() throws {
    let (near, far) = try Socket.pair()

    try near.write([1, 2, 3], by: .after(.seconds(1)))
    near.close()

    #expect(try far.read(exactly: 3, by: .after(.seconds(1))) == [1, 2, 3])
    #expect(try far.read(max: 10, by: .after(.seconds(1))).isEmpty)
  }

  @Test func `gives up a read at its deadline`() throws {
    let (near, far) = try Socket.pair()
    defer { far.close() }

    #expect(throws: StreamError.timedOut) { try near.read(max: 1, by: .after(.milliseconds(20))) }
  }

  @Test func `gives up writing to a peer that does not read`() throws {
    let (near, far) = try Socket.pair()
    defer { far.close() }

    #expect(throws: StreamError.timedOut) {
      try near.write([UInt8](repeating: 0, count: 8 << 20), by: .after(.milliseconds(50)))
    }
  }

  @Test func `that is shut down ends a read under way on another thread`() throws {
    let (near, far) = try Socket.pair()
    defer { far.close() }
    let reader = Worker(name: "reader") { _ = try? near.read(max: 1, by: .never) }

    near.shutdown()

    #expect(reader.join(by: .after(.seconds(5))))
  }

  @Test func `writing to a peer that has gone is told, not killed`() throws {
    let (near, far) = try Socket.pair()
    far.close()

    #expect(throws: StreamError.closed) { try near.write([1], by: .after(.seconds(1))) }
  }

  @Test func `asked for a claimed length takes memory only for what comes`() throws {
    let (near, far) = try Socket.pair()
    try far.write([1], by: .after(.seconds(1)))
    far.close()

    #expect(throws: StreamError.closed) { try near.read(exactly: 1 << 40, by: .after(.seconds(1))) }
  }
}

@Suite struct `a listener` {
  private let folder: String

  init() throws {
    var template = Array("/tmp/fleetctl-test-XXXXXX".utf8CString)
    folder = try #require(mkdtemp(&template).map { String(cString: $0) })
  }

  @Test func `removes its socket's file when it closes`() throws {
    let path = "\(folder)/mux"
    let listener = try Listener(.unix(path: path))
    #expect(access(path, F_OK) == 0)

    listener.close()

    #expect(access(path, F_OK) != 0)
  }

  @Test func `takes over a dead socket's place and leaves a live one alone`() throws {
    let path = "\(folder)/mux"
    let first = try Listener(.unix(path: path))
    #expect(throws: StreamError.system(EADDRINUSE)) { try Listener(.unix(path: path)) }
    // A killed daemon leaves its file behind: bound, but nobody listens.
    unlink(path)
    let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(dead, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    close(dead)

    let second = try Listener(.unix(path: path))

    first.close()
    #expect(access(path, F_OK) == 0, "the first listener must not remove the second one's file")
    second.close()
  }

  @Test func `never replaces a file that is no socket`() throws {
    let path = "\(folder)/file"
    close(open(path, O_CREAT | O_WRONLY, 0o600))

    #expect(throws: StreamError.system(EEXIST)) { try Listener(.unix(path: path)) }
  }

  @Test func `says which port the system chose`() throws {
    let listener = try Listener(.tcp(host: "127.0.0.1", port: 0))
    defer { listener.close() }

    let client = try Socket.connect(to: listener.address, by: .after(.seconds(1)))
    let server = try #require(listener.accept(by: .after(.seconds(1))))
    try client.write([7], by: .after(.seconds(1)))

    #expect(try server.read(max: 1, by: .after(.seconds(1))) == [7])
  }

  @Test func `that closes ends an accept on another thread`() throws {
    let listener = try Listener(.unix(path: "\(folder)/mux"))
    let acceptor = Worker(name: "acceptor") { _ = listener.accept() }

    listener.close()

    #expect(acceptor.join(by: .after(.seconds(5))))
  }
}
