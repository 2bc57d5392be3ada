import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@testable import fleetctl

@Suite(.serialized) struct `fleetctl virtual` {
  struct Signal: CustomTestStringConvertible, Sendable {
    var number: Int32
    var code: Int32
    var testDescription: String { "\(code)" }
  }

  @Test(arguments: [Signal(number: SIGINT, code: 130), Signal(number: SIGTERM, code: 143)])
  func `prints where the phones are, and removes its sockets when a signal ends it`(_ signal: Signal) async throws {
    let folder = TestFolder()
    let child = Fleetctl.start(["virtual", "--phones", "2", "--ios", "16.7,17"], environment: ["TMPDIR": folder.path])
    #expect(await child.prints { $0.lines.count == 2 })
    let lines = child.output.lines
    let place = try #require(folder.names.first)
    #expect(lines[0] == "USBMUXD_SOCKET_ADDRESS=UNIX:\(folder.path)/\(place)/usbmuxd")
    #expect(lines[1] == "FLEETCTL_VIRTUAL=\(folder.path)/\(place)/control")
    var info = stat()
    #expect(stat("\(folder.path)/\(place)", &info) == 0 && info.st_mode & 0o777 == 0o700)

    child.signal(signal.number)

    #expect(await child.ending(within: .seconds(2)) == .exited(signal.code))
    #expect(folder.names.isEmpty)
  }

  @Test func `listens on a loopback port that the system chooses`() async throws {
    let folder = TestFolder()
    let child = Fleetctl.start(
      ["virtual", "--phones", "1", "--listen", "127.0.0.1:0", "--control", folder.file("control"), "--json"])
    #expect(await child.prints { $0.lines.count == 1 })

    let line = try #require(JSON(parsing: Array(child.output.lines[0].utf8)))
    let address = try #require(line["usbmuxd_socket_address"]?.string)
    #expect(address.hasPrefix("127.0.0.1:") && !address.hasSuffix(":0"))
    #expect(line["phones"]?.array?.count == 1)
    let listed = await Fleetctl.run(["devices", "--json", "--mux", address])
    #expect(listed.output.lines.count == 1)
    child.signal(SIGTERM)
    #expect(await child.ending(within: .seconds(2)) == .exited(143))
    #expect(folder.names.isEmpty)
  }

  @Test func `writes a developer image and signs for it`() async throws {
    let folder = TestFolder()
    let child = Fleetctl.start([
      "virtual", "--phones", "1", "--socket", folder.file("mux"), "--control", folder.file("control"), "--images",
      folder.file("images"),
    ])
    #expect(await child.prints { $0.lines.count == 3 })

    #expect(child.output.lines[2].hasPrefix("FLEETCTL_SIGNING=http://127.0.0.1:"))
    for name in ["Image.dmg", "Image.trustcache", "BuildManifest.plist"] {
      var info = stat()
      #expect(stat(folder.file("images/personalized/\(name)"), &info) == 0 && info.st_size > 0)
      unlink(folder.file("images/personalized/\(name)"))
    }
    rmdir(folder.file("images/personalized"))
    rmdir(folder.file("images"))
    child.signal(SIGTERM)
    #expect(await child.ending(within: .seconds(2)) == .exited(143))
  }

  @Test func `needs a folder that it may write an image to`() async throws {
    let done = await Fleetctl.run(["virtual", "--phones", "1", "--images", "/dev/null"])

    #expect(done.code == 3 && done.output.out.isEmpty && done.output.err.contains("--images FOLDER"))
  }

  @Test(arguments: [("plain", 2), ("real", 1)])
  func `lists phones of the network by plain manners, and not by the real daemon's`(_ manners: String, _ count: Int)
    async throws
  {
    let folder = TestFolder()
    let child = Fleetctl.start([
      "virtual", "--phones", "2", "--manners", manners, "--socket", folder.file("mux"), "--control",
      folder.file("control"),
    ])
    #expect(await child.prints { $0.lines.count == 2 })
    let mux = ["--mux", folder.file("mux")]
    // By real manners a phone is listed only after a first talk with it.
    #expect(await eventuallyListed(2, mux))

    let done = await Fleetctl.run(
      ["virtual", "do", "1", "list-as", "network=only", "--control", folder.file("control")])

    #expect(done.code == 0, "\(done.output.err)")
    #expect(await eventuallyListed(count, mux))
    child.signal(SIGTERM)
    #expect(await child.ending(within: .seconds(2)) == .exited(143))
  }

  private func eventuallyListed(_ count: Int, _ mux: [String]) async -> Bool {
    let deadline = Deadline.after(.seconds(30))
    while !deadline.hasPassed {
      if await Fleetctl.run(["devices", "--json"] + mux).output.lines.count == count { return true }
    }
    return false
  }

  struct Wrong: CustomTestStringConvertible, Sendable {
    var arguments: [String]
    var part: String
    var testDescription: String { arguments.joined(separator: " ") }
  }

  @Test(arguments: [
    Wrong(arguments: ["--phones", "0"], part: "It takes a whole number from 1 to 512."),
    Wrong(arguments: ["--phones", "513"], part: "It takes a whole number from 1 to 512."),
    Wrong(arguments: ["--ios", "9.3"], part: "versions that have a virtual phone: 15.8 16.7 17.6 18.5 26.1"),
    Wrong(arguments: ["--listen", "0.0.0.0:0"], part: "a loopback address and port"),
    Wrong(arguments: ["--listen", "192.168.1.1:27015"], part: "a loopback address and port"),
    Wrong(arguments: ["--listen", "127.0.0.1"], part: "a loopback address and port"),
    Wrong(arguments: ["--listen", "[::1]:0", "--socket", "/tmp/x"], part: "--socket and --listen were both given"),
    Wrong(arguments: ["--time-scale", "0"], part: "It takes a number from 0.01 to 10000."),
    Wrong(arguments: ["--time-scale", "0.00001"], part: "It takes a number from 0.01 to 10000."),
    Wrong(arguments: ["--manners", "rude"], part: "It is one of plain, real."),
    Wrong(arguments: ["--socket", "/tmp/" + String(repeating: "x", count: 120)], part: "at most 107 bytes"),
    Wrong(arguments: ["--control", "/tmp/" + String(repeating: "x", count: 200)], part: "--control cannot be '/tmp/x"),
    Wrong(arguments: ["--socket", ""], part: "--socket cannot be ''"),
    Wrong(arguments: ["--control", ""], part: "--control cannot be ''"),
  ]) func `refuses what it cannot do with exit code 2`(_ wrong: Wrong) async {
    let done = await Fleetctl.run(["virtual"] + wrong.arguments)

    #expect(done.code == 2)
    #expect(done.output.err.contains(wrong.part), "\(done.output.err)")
  }

  @Test func `says so when its place is taken`() async throws {
    let phones = try TestPhones()
    let mux = phones.folder.file("mux")
    let file = phones.folder.write("mine", to: "file")

    for path in [mux, file] {
      for option in ["--socket", "--control"] {
        let done = await Fleetctl.run(["virtual", option, path], environment: ["TMPDIR": phones.folder.path])

        #expect(done.code == 3)
        #expect(done.output.err.contains(path))
        #expect(done.output.err.hasSuffix("Try another: fleetctl virtual \(option) PATH.\n"), "\(done.output.err)")
      }
    }
    #expect(phones.folder.names.contains("file") && phones.folder.names.contains("mux"))
  }

  @Test func `makes things happen to its phones, and tells what the host did to them`() async throws {
    let phones = try TestPhones(2)

    let locked = await phones.run("virtual", "do", "2", "lock")
    #expect(locked.code == 0 && locked.output.out.isEmpty && locked.output.err.isEmpty)
    #expect(phones.fleet.phones[1].state.with { $0.locked })
    #expect(phones.fleet.phones[0].state.with { !$0.locked })

    let journal = await phones.run("virtual", "journal")
    #expect(journal.code == 0)
    for line in journal.output.lines { #expect(JSON(parsing: Array(line.utf8))?["event"] != nil, "\(line)") }
    #expect(!journal.output.lines.isEmpty)

    let list = await phones.run("virtual", "do", "--list")
    #expect(list.code == 0 && list.output.lines.contains { $0.hasPrefix("lock ") })
  }

  @Test func `lists what can happen to phones without any`() async throws {
    let plain = await Fleetctl.run(["virtual", "do", "--list"])
    let json = await Fleetctl.run(["virtual", "do", "--list", "--json"])

    #expect(plain.code == 0 && plain.output.lines.contains { $0.hasPrefix("lock ") }, "\(plain.output.err)")
    #expect(json.output.lines.count == plain.output.lines.count)
    #expect(`fleetctl run`.objects(json.output).contains { $0["action"] == "mux-quit" })
  }

  @Test func `says how fast its phones' time can run`() async {
    let help = await Fleetctl.run(["help", "virtual"])

    #expect(help.output.out.split(whereSeparator: \.isWhitespace).joined(separator: " ").contains("from 0.01 to 10000"))
  }

  @Test func `follows the journal until the phones end`() async throws {
    let phones = try TestPhones(1)
    let child = Fleetctl.start(["virtual", "journal", "--follow"], environment: phones.environment)
    #expect(await child.prints { !$0.lines.isEmpty })

    try phones.fleet.perform("lock", on: "1")
    #expect(await child.prints { $0.out.contains(#""action":"lock""#) })
    phones.fleet.stop()

    #expect(await child.ending(within: .seconds(5)) == .exited(0))
  }

  @Test func `H33: ends, its sockets removed, when it cannot say where the phones are`() async throws {
    let folder = TestFolder()
    for stdout in [ChildProcess.Stdout.closed, .file("/dev/full"), .pipeNobodyReads] {
      let done = await Fleetctl.run(["virtual"], environment: ["TMPDIR": folder.path], stdout: stdout)

      #expect(done.ending == .exited(3))
      #expect(folder.names.isEmpty)
    }
  }

  @Test func `refuses actions, phones and keys that there are not`() async throws {
    let phones = try TestPhones(1)

    for (arguments, part) in [
      (["1", "lokc"], "Did you mean 'lock'?"), (["7", "lock"], "no virtual phone 7"),
      (["1", "lock", "x"], "KEY=VALUE"),
      (["1", "lock", "x=y"], "takes no keys"), (["1"], "needs ACTION"), ([], "needs PHONE"),
    ] {
      let done = await Fleetctl.run(["virtual", "do"] + arguments, environment: phones.environment)
      #expect(done.code == 2)
      #expect(done.output.err.contains(part), "\(done.output.err)")
    }
    let lost = await Fleetctl.run(["virtual", "do", "1", "lock", "--control", phones.folder.file("none")])
    #expect(lost.code == 3 && lost.output.err.contains("fleetctl virtual"))
    let long = await Fleetctl.run(["virtual", "journal", "--control", "/" + String(repeating: "x", count: 200)])
    #expect(long.code == 2 && long.output.err.contains("--control cannot be"))
    let unnamed = await Fleetctl.run(["virtual", "journal"])
    #expect(unnamed.code == 2 && unnamed.output.err.contains("FLEETCTL_VIRTUAL"))
  }
}
