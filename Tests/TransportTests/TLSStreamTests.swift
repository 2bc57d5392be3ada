import Glibc
import Testing
import Transport

@Suite struct `a TLS stream that was closed` {
  // The numbers of descriptors are the process's own: this runs in one of its own.
  @Test func `writes nothing to whoever has its descriptor's number now`() async {
    await #expect(processExitsWith: .success) {
      let (near, far) = try Certificates.pair()
      let number = near.fd
      near.close()
      let (mine, other) = try Socket.pair()
      try #require(dup2(mine.fd, number) == number)

      near.endSending()
      #expect(throws: StreamError.self) { try near.write([1], by: .after(.milliseconds(10))) }

      #expect(throws: StreamError.timedOut) { try other.read(max: 100, by: .after(.milliseconds(50))) }
      withExtendedLifetime((far, mine)) {}
    }
  }
}
