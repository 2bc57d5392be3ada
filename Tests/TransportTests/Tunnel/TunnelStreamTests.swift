import Glibc
import Testing
import Transport
import Wire

@Suite struct `a stream through a tunnel` {
  let cable: Cable

  init() throws { cable = try Cable() }

  @Test func `carries bytes both ways and ends where the far end closes`() throws {
    let (near, far) = try cable.connect()

    try near.write([1, 2, 3], by: .after(.seconds(5)))
    try far.write([4], by: .after(.seconds(5)))

    #expect(try far.read(exactly: 3, by: .after(.seconds(5))) == [1, 2, 3])
    #expect(try near.read(max: 10, by: .after(.seconds(5))) == [4])
    near.close()
    #expect(try far.read(max: 10, by: .after(.seconds(5))).isEmpty)
  }

  @Test func `still answers a peer that has ended its sending`() throws {
    let (near, far) = try cable.connect()

    near.endSending()
    #expect(try far.read(max: 1, by: .after(.seconds(5))).isEmpty)
    try far.write([5, 6], by: .after(.seconds(5)))
    far.endSending()

    #expect(try near.read(exactly: 2, by: .after(.seconds(5))) == [5, 6])
    #expect(try near.read(max: 1, by: .after(.seconds(5))).isEmpty)
    #expect(throws: StreamError.closed) { try near.write([1], by: .after(.seconds(5))) }
  }

  @Test func `gives up a read at its deadline`() throws {
    let (near, far) = try cable.connect()
    defer { far.close() }

    #expect(throws: StreamError.timedOut) { try near.read(max: 1, by: .after(.milliseconds(20))) }
  }

  @Test func `gives up writing to a peer that does not read, having kept no more than both windows`() throws {
    let (near, far) = try cable.connect()
    let bytes = [UInt8](repeating: 7, count: 8 << 20)

    #expect(throws: StreamError.timedOut) { try near.write(bytes, by: .after(.milliseconds(100))) }

    near.endSending()
    var count = 0
    while case let part = try far.read(max: 1 << 16, by: .after(.seconds(5))), !part.isEmpty { count += part.count }
    #expect(count > 0 && count <= 128 << 10)
  }

  @Test func `carries a screenshot whole, in packets of at most 1520 bytes`() throws {
    let (near, far) = try cable.connect()
    let bytes = (0..<3_000_001).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
    let writer = Worker(name: "writer") {
      try? near.write(bytes, by: .after(.seconds(20)))
      near.endSending()
    }

    var got: [UInt8] = []
    while case let part = try far.read(max: 10_007, by: .after(.seconds(20))), !part.isEmpty { got += part }

    #expect(writer.join(by: .after(.seconds(5))))
    #expect(got == bytes)
    #expect(cable.sent.max() == 1500)
  }

  @Test func `cancelled from another thread ends a read and a write under way`() throws {
    let (near, far) = try cable.connect()
    defer { far.close() }
    let reader = Worker(name: "reader") { _ = try? near.read(max: 1, by: .never) }
    let writer = Worker(name: "writer") { try? near.write([UInt8](repeating: 0, count: 1 << 20), by: .never) }

    near.shutdown()

    #expect(reader.join(by: .after(.seconds(5))))
    #expect(writer.join(by: .after(.seconds(5))))
    #expect(throws: StreamError.closed) { try near.write([1], by: .never) }
  }

  @Test func `that is reset fails at the far end`() throws {
    let (near, far) = try cable.connect()

    near.reset()

    #expect(throws: StreamError.closed) { try far.read(max: 1, by: .after(.seconds(5))) }
    #expect(throws: StreamError.closed) { try far.write([1], by: .after(.seconds(5))) }
    #expect(throws: StreamError.closed) { try near.read(max: 1, by: .after(.seconds(5))) }
  }

  @Test func `hands over what came before the tunnel went, then fails at once`() throws {
    let (near, far) = try cable.connect()
    try far.write([9], by: .after(.seconds(5)))
    #expect(try near.read(max: 1, by: .after(.seconds(5))) == [9])
    try far.write([1, 2], by: .after(.seconds(5)))
    try far.write([3], by: .after(.seconds(5)))
    #expect(try near.read(max: 1, by: .after(.seconds(5))) == [1])
    let reader = Worker(name: "reader") { _ = try? far.read(max: 1, by: .never) }

    cable.cut()

    #expect(reader.join(by: .after(.seconds(5))))
    #expect(try near.read(max: 1, by: .never) == [2])
    #expect(throws: StreamError.closed) {
      while true { _ = try near.read(max: 1, by: .never) }
    }
    #expect(throws: StreamError.closed) { try near.write([1], by: .never) }
    #expect(!near.isOpen)
  }

  @Test func `is of no use once its interface is gone, and harmless`() throws {
    var cable: Cable? = try Cable()
    let (near, far) = try #require(try cable?.connect())

    cable = nil

    #expect(throws: StreamError.closed) { try near.read(max: 1, by: .never) }
    #expect(throws: StreamError.closed) { try far.write([1], by: .never) }
    near.endSending()
    far.reset()
  }
}

@Suite struct `connecting through a tunnel` {
  @Test func `is refused where nobody listens`() throws {
    let cable = try Cable()

    #expect(throws: StreamError.system(ECONNREFUSED)) {
      try cable.near.connect(port: 7, by: .after(.seconds(5)))
    }
  }

  @Test func `ends at its deadline when the peer is silent`() throws {
    let cable = try Cable()
    let port = try cable.far.listen()
    cable.hold()

    #expect(throws: StreamError.timedOut) {
      try cable.near.connect(port: port, by: .after(.milliseconds(30)))
    }
    #expect(cable.near.connections == 0)
  }

  @Test func `ends at once when the tunnel goes`() throws {
    let cable = try Cable()
    let port = try cable.far.listen()
    cable.hold()
    let failure = Guarded<StreamError?>(nil)
    let connecting = Worker(name: "connecting") {
      do throws(StreamError) {
        _ = try cable.near.connect(port: port, by: .never)
      } catch {
        failure.with { $0 = error }
      }
    }

    while cable.sent.isEmpty { sched_yield() }
    cable.cut()

    #expect(connecting.join(by: .after(.seconds(5))))
    #expect(failure.with { $0 } == .closed)
  }

  @Test func `is not possible in a closed tunnel`() throws {
    let cable = try Cable()
    cable.near.close()

    #expect(throws: StreamError.closed) { try cable.near.connect(port: 1, by: .never) }
    #expect(throws: StreamError.system(EADDRINUSE)) { try cable.near.listen() }
    #expect(cable.near.accept(by: .never) == nil)
  }

  @Test func `reaches each of several ports by its number`() throws {
    let cable = try Cable()
    let first = try cable.far.listen(port: 700)
    let second = try cable.far.listen()

    let a = try cable.near.connect(port: second, by: .after(.seconds(5)))
    #expect(cable.far.accept(by: .after(.seconds(5)))?.localPort == second)
    let b = try cable.near.connect(port: first, by: .after(.seconds(5)))
    #expect(cable.far.accept(by: .after(.seconds(5)))?.localPort == 700)

    #expect(a.localPort != b.localPort)
    #expect(throws: StreamError.system(EADDRINUSE)) { try cable.far.listen(port: 700) }
    cable.far.unlisten(port: 700)
    #expect(throws: StreamError.system(ECONNREFUSED)) { try cable.near.connect(port: 700, by: .after(.seconds(5))) }
    #expect(try cable.far.listen(port: 700) == 700)
  }
}
