import Glibc
import Testing

@testable import fleetctl
import Fleet

@Suite struct `results` {
  /// A pipe whose two ends the test owns.
  struct Pipe {
    var read: Int32 = -1
    var write: Int32 = -1
    init() {
      var fds: [Int32] = [-1, -1]
      _ = Glibc.pipe(&fds)
      (read, write) = (fds[0], fds[1])
    }

    var text: String {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = Glibc.read(read, &bytes, bytes.count)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
  }

  @Test func `go to standard output, each line with its end, and everything else to standard error`() throws {
    let (out, err) = (Pipe(), Pipe())
    defer { for fd in [out.read, out.write, err.read, err.write] { close(fd) } }
    let output = Output(stdout: out.write, stderr: err.write)

    try output.results(["one", "two"])
    output.complain("It broke. Perhaps. Type this.")

    #expect(out.text == "one\ntwo\n")
    #expect(err.text == "fleetctl: It broke. Perhaps. Type this.\n")
    #expect(output.complaint == nil)
  }

  @Test func `H33: on a full device are a failure that is told`() throws {
    let full = open("/dev/full", O_WRONLY)
    let err = Pipe()
    defer { for fd in [full, err.read, err.write] { close(fd) } }
    let output = Output(stdout: full, stderr: err.write)

    let complaint = #expect(throws: Complaint.self) { try output.result("one") }

    #expect(complaint?.code == .harness)
    #expect(complaint?.sentence.contains("No space left on device") == true)
    #expect(output.complaint == complaint)
  }

  @Test func `H43: that nobody reads any more are a failure without a sentence`() throws {
    signal(SIGPIPE, SIG_IGN)
    let (out, err) = (Pipe(), Pipe())
    defer { for fd in [out.write, err.read, err.write] { close(fd) } }
    close(out.read)
    let output = Output(stdout: out.write, stderr: err.write)

    let complaint = #expect(throws: Complaint.self) { try output.result("one") }

    #expect(complaint == Complaint(.harness, ""))
  }

  @Test func `that failed once are not tried again, and the end says so too`() throws {
    let out = Pipe()
    let output = Output(stdout: out.read, stderr: STDERR_FILENO)
    defer { for fd in [out.read, out.write] { close(fd) } }

    #expect(throws: Complaint.self) { try output.result("a read end takes nothing") }
    #expect(throws: Complaint.self) { try output.result("again") }
    #expect(throws: Complaint.self) { try output.finish() }
  }
}
