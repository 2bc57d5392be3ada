import Glibc
import Testing
import Transport
import Wire

@testable import fleetctl

@Suite(.serialized) struct `the program` {
  @Test func `tells its version, and help to standard output`() async {
    let version = await Fleetctl.run(["--version"])
    let help = await Fleetctl.run(["help"])
    let nothing = await Fleetctl.run([])

    #expect(version.output.lines == ["fleetctl \(Program.version)"])
    #expect(version.code == 0)
    #expect(help.code == 0 && help.output.out.contains("commands:") && help.output.err.isEmpty)
    #expect(nothing.code == 2 && nothing.output.out.isEmpty && nothing.output.err.contains("commands:"))
  }

  @Test func `answers a wrong command line with one sentence and exit code 2`() async {
    let done = await Fleetctl.run(["devcies"])

    #expect(done.code == 2)
    #expect(
      done.output.err
        == "fleetctl: There is no command 'devcies'. Did you mean 'devices'? See them all: fleetctl help.\n")
    #expect(done.output.out.isEmpty)
  }

  @Test(arguments: Commands.later.keys.sorted()) func `says of what is not built yet that it is not`(_ name: String)
    async
  {
    let done = await Fleetctl.run([name, "x"])

    #expect(done.code == 2)
    #expect(done.output.err.contains("does not have"))
  }

  @Test func `H33: fails when its standard output is closed, full or read by nobody`() async {
    let closed = await Fleetctl.run(["help"], stdout: .closed)
    let full = await Fleetctl.run(["help"], stdout: .file("/dev/full"))
    let unread = await Fleetctl.run(["help"], stdout: .pipeNobodyReads)

    #expect(closed.code == 3 && closed.output.err.contains("could not be written"))
    #expect(full.code == 3 && full.output.err.contains("No space left on device"))
    #expect(unread.ending == .exited(3) && unread.output.err.isEmpty)
  }
}

@Suite(.serialized) struct `the daemon's socket` {
  @Test func `H11: missing, dead, or something else is told apart, with exit code 3`() async throws {
    let folder = TestFolder()
    let file = folder.write("not a socket", to: "file")
    let fd = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(fd) }
    bindOnly(fd, to: folder.file("dead"))

    var sentences: Set<String> = []
    for path in [folder.file("none"), folder.file("dead"), file] {
      for command in [["devices"], ["lock-state", "hall"], ["hello", "hall"]] {
        let done = await Fleetctl.run(command + ["--mux", path])

        #expect(done.code == 3)
        #expect(done.output.err.contains(path))
        #expect(done.output.out.isEmpty)
        if command == ["devices"] { sentences.insert(done.output.err.replacing(path, with: "")) }
      }
    }
    #expect(sentences.count == 3)
  }

  @Test(arguments: ["host", "host:0", "relative/path", "unix:/x"])
  func `named wrongly is exit code 2`(_ address: String) async {
    let option = await Fleetctl.run(["devices", "--mux", address])
    let variable = await Fleetctl.run(["devices"], environment: ["USBMUXD_SOCKET_ADDRESS": address])

    #expect(option.code == 2 && option.output.err.contains("--mux cannot be '\(address)'"))
    #expect(variable.code == 2 && variable.output.err.contains("USBMUXD_SOCKET_ADDRESS is '\(address)'"))
  }

  /// A socket file that nobody listens on.
  private func bindOnly(_ fd: Int32, to path: String) {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array(path.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = bind(fd, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
