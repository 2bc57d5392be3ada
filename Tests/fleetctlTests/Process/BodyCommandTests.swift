import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

@testable import fleetctl

@Suite(.serialized) struct `a command about one phone` {
  static func object(_ done: Fleetctl.Done) -> JSON? { JSON(parsing: Array(done.output.out.utf8)) }

  @Test func `takes the phone's identifier in any spelling, or an unambiguous start of it`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])
    let udid = phones.udid(1)

    for spelling in [udid, udid.lowercased(), udid.replacing("-", with: ""), String(udid.dropLast(2))] {
      let done = await phones.run("lock-state", spelling)
      #expect(done.code == 0, "\(spelling): \(done.output.err)")
    }
  }

  @Test func `that is unknown or ambiguous is exit code 2 with those that may be meant`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])

    for command in [["lock-state"], ["hello"], ["launch"]] {
      let unknown = await Fleetctl.run(command + ["nobody"], environment: phones.environment)
      let ambiguous = await Fleetctl.run(command + ["00008030"], environment: phones.environment)
      for done in [unknown, ambiguous] {
        #expect(done.code == 2 && done.output.out.isEmpty)
        #expect(done.output.err.contains(phones.udid(1)) && done.output.err.contains(phones.udid(2)))
      }
    }
  }

  @Test func `that is known and absent is exit code 3, as an object too`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(
      "version: 1\napp: {bundle: com.example.kiosk}\nbodies:\n  - {udid: 00008101-000A1B2C3D4E001E, name: stairs}\n",
      to: "bodies.yaml")

    let lock = await phones.run("lock-state", "stairs", "--json", "--config", file)
    let hello = await phones.run("hello", "stairs", "--json", "--config", file)
    let launch = await phones.run("launch", "stairs", "--json", "--config", file)

    for done in [lock, hello, launch] {
      #expect(done.code == 3)
      #expect(done.output.err.hasPrefix("fleetctl: Phone 00008101-000A1B2C3D4E001E is not on the bus."))
      #expect(Self.object(done)?["body"] == "stairs")
    }
    #expect(Self.object(lock)?["lock"] == "unknown")
    #expect(Self.object(hello)?["outcome"] == "unreachable")
    #expect(Self.object(launch)?["outcome"] == "unreachable" && Self.object(launch)?["reason"] == "detached")
  }

  @Test func `H33: fails when the phone refuses the session`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("lockdown-error", on: "1", ["error": "InvalidHostID", "request": "all"])

    let lock = await phones.run("lock-state", phones.udid(1))
    let launch = await phones.run("launch", phones.udid(1), "--json")

    #expect(lock.code == 3 && launch.code == 3)
    #expect(Self.object(launch)?["outcome"] == "untrusted" && Self.object(launch)?["reason"] == "stale")
  }

  @Test func `H33: fails when its results cannot be written`() async throws {
    let phones = try TestPhones(1, ios: ["16.7"])
    let udid = phones.udid(1)

    for command in [["lock-state", udid], ["hello", udid], ["request", udid, "GET", "/status"], ["launch", udid]] {
      for stdout in [ChildProcess.Stdout.closed, .file("/dev/full"), .pipeNobodyReads] {
        let done = await Fleetctl.run(command, environment: phones.environment, stdout: stdout)
        #expect(done.ending == .exited(3), "\(command[0]): \(done.output.err)")
      }
    }
  }

  @Test func `that found a no says no, also where its results cannot be written`() async throws {
    let phones = try TestPhones(3, ios: ["16.7"])
    for phone in ["1", "2"] { try phones.fleet.perform("kill-app", on: phone) }
    try phones.fleet.perform("lock", on: "1")
    try phones.fleet.perform("background", on: "3")
    let wrong = phones.folder.write("scenario: x\nstep: []\n", to: "wrong.yaml")

    for (command, code) in [
      (["lock-state", phones.udid(1), "--expect", "unlocked"], 1), (["launch", phones.udid(1), "--json"], 1),
      (["hello", phones.udid(2), "--json"], 1), (["request", phones.udid(3), "POST", "/photo?camera=front"], 1),
      (["revive", phones.udid(1)], 1), (["lint", wrong], 2),
    ] as [([String], Int32)] {
      let done = await Fleetctl.run(command, environment: phones.environment, stdout: .file("/dev/full"))
      #expect(done.code == code, "\(command): \(done.output.err)")
      #expect(!done.output.err.contains("could not be written"))
    }
  }

  @Test func `says which address is wrong, and blames no daemon`() async throws {
    let phones = try TestPhones(1)
    let long = "/" + String(repeating: "x", count: 150)

    let nameless = await Fleetctl.run(["devices", "--mux", "nohost.invalid:80"])
    let tooLong = await Fleetctl.run(["devices", "--mux", long])
    let relative = await Fleetctl.run(["devices", "--mux", "s/none"])

    for done in [nameless, tooLong] { #expect(done.code == 3 && !done.output.err.contains("daemon")) }
    #expect(nameless.output.err.contains("nohost.invalid is no machine"))
    #expect(tooLong.output.err.contains("The usbmux socket's path has 151 bytes"))
    #expect(relative.code == 2 && relative.output.err.contains("It takes an absolute path, UNIX:PATH or HOST:PORT."))
    let absolute = phones.folder.file("mux").dropFirst()
    let up = WorkingFolder.absolute("x").split(separator: "/").dropLast().map { _ in "../" }.joined()
    #expect(await Fleetctl.run(["devices", "--json", "--mux", "UNIX:\(up)\(absolute)"]).output.lines.count == 1)
    #expect(await Fleetctl.run(["devices", "--mux", ""]).code == 2)
  }

  @Test func `says with -v where it looks`() async throws {
    let phones = try TestPhones(1)

    let done = await phones.run("lock-state", phones.udid(1), "-v")

    #expect(done.output.err.contains("usbmux: \(phones.fleet.address)\n"))
    #expect(done.output.err.contains("configuration: \(phones.folder.file("fleet.yaml"))\n"))
  }

  @Test func `with a configuration that is wrong runs nothing`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write("version: 1\nboddies: []\n", to: "wrong.yaml")

    let done = await phones.run("hello", phones.udid(1), "--config", file)

    #expect(done.code == 2)
    #expect(done.output.err.contains("\(file):2:1:"), "\(done.output.err)")
  }
}

@Suite(.serialized) struct `fleetctl lock-state` {
  @Test func `says locked, unlocked or unknown, and why`() async throws {
    let phones = try TestPhones(1)
    let unlocked = await phones.run("lock-state", phones.udid(1), "--json")
    try phones.fleet.perform("lock", on: "1")
    let locked = await phones.run("lock-state", phones.udid(1))
    try phones.fleet.perform("set-value", on: "1", ["PasswordProtected": "", "type": "absent"])
    let unknown = await phones.run("lock-state", phones.udid(1), "--json")

    let object = `a command about one phone`.object(unlocked)
    #expect(Set(object?.object.map { Array($0.keys) } ?? []) == ["body", "udid", "lock", "why"])
    #expect(unlocked.code == 0 && object?["lock"] == "unlocked")
    #expect(locked.code == 0 && locked.output.out.hasPrefix("locked  "))
    #expect(unknown.code == 3 && `a command about one phone`.object(unknown)?["lock"] == "unknown")
  }

  @Test func `compares with what was expected`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("lock", on: "1")

    #expect(await phones.run("lock-state", phones.udid(1), "--expect", "locked").code == 0)
    #expect(await phones.run("lock-state", phones.udid(1), "--expect", "unlocked").code == 1)
    #expect(await phones.run("lock-state", phones.udid(1), "--expect", "open").code == 2)
  }
}

@Suite(.serialized) struct `fleetctl launch` {
  @Test func `brings the app to the front, with arguments and environment`() async throws {
    let phones = try TestPhones(1, ios: ["16.7"])
    try phones.fleet.perform("kill-app", on: "1")

    let done = await phones.run(
      "launch", phones.udid(1), "--arg", "-verbose", "--arg=two words", "--env", "FLAG=NO", "--json")

    #expect(done.code == 0, "\(done.output.err)")
    #expect(
      `a command about one phone`.object(done) == [
        "body": .null, "udid": .string(phones.udid(1)), "accepted": true, "outcome": .null, "reason": .null,
        "detail": .null,
      ])
    #expect(await phones.run("hello", phones.udid(1)).code == 0)
  }

  @Test func `that is refused is exit code 1, with the watch's words for it`() async throws {
    let phones = try TestPhones(3, ios: ["16.7", "17.0"])
    try phones.fleet.perform("lock", on: "1")
    try phones.fleet.perform("uninstall-app", on: "3")

    let locked = await phones.run("launch", phones.udid(1), "--json")
    let newer = await phones.run("launch", phones.udid(2), "--json")
    let missing = await phones.run("launch", phones.udid(3), "--json")

    for (done, outcome, reason) in [
      (locked, "locked", "passcode"), (newer, "launch-refused", "not-on-this-ios"),
      (missing, "launch-refused", "not-installed"),
    ] {
      let object = `a command about one phone`.object(done)
      #expect(done.code == 1)
      #expect(object?["accepted"] == false)
      #expect(object?["outcome"] == .string(outcome) && object?["reason"] == .string(reason))
      #expect(object?["detail"]?.string.map { "fleetctl: \($0)\n" } == done.output.err)
    }
  }

  @Test func `needs to know which app`() async throws {
    let phones = try TestPhones(1)

    let done = await Fleetctl.run(
      ["launch", phones.udid(1)], environment: ["USBMUXD_SOCKET_ADDRESS": phones.fleet.address.description])

    #expect(done.code == 2)
    #expect(done.output.err.contains("fleetctl init --app"))
  }

  @Test func `says locked with exit code 1, whichever lock it is, and ends no app`() async throws {
    let phones = try TestPhones(2, ios: ["16.7"])
    try phones.fleet.perform("lock", on: "1")
    try phones.fleet.perform("reboot", on: "2", ["first-unlock": "password-protected"])

    let passcode = await phones.run("launch", phones.udid(1), "--json")
    let rebooted = await phones.run("launch", phones.udid(2), "--json")

    for (done, reason) in [(passcode, "passcode"), (rebooted, "before-first-unlock")] {
      let object = `a command about one phone`.object(done)
      #expect(done.code == 1)
      #expect(object?["outcome"] == "locked" && object?["reason"] == .string(reason))
    }
    #expect(phones.fleet.phones[0].app.processes.values.contains("Kiosk"))
  }

  @Test func `waits for the door where something else brings the app back, and needs no app's name`() async throws {
    let phones = try TestPhones(1, ios: ["16.7"])
    let file = phones.folder.write(
      "version: 1\napp: {launcher: none}\nsupervise: {answer-within: 1s}\n", to: "mdm.yaml")

    let up = await phones.run("launch", phones.udid(1), "--config", file)
    try phones.fleet.perform("kill-app", on: "1")
    let silent = await phones.run("launch", phones.udid(1), "--config", file, "--json")

    #expect(up.code == 0 && up.output.lines == ["\(phones.udid(1))  its door answers"], "\(up.output.err)")
    #expect(silent.code == 1, "\(silent.output.err)")
    #expect(`a command about one phone`.object(silent)?["accepted"] == false)
  }

  @Test func `waits for a locked phone to be unlocked`() async throws {
    let phones = try TestPhones(1, ios: ["16.7"])
    try phones.fleet.perform("lock", on: "1")
    let child = Fleetctl.start(["launch", phones.udid(1), "--wait", "30s"], environment: phones.environment)
    await phones.asked("StartService", times: 1)

    try phones.fleet.perform("unlock", on: "1")

    #expect(await child.ending(within: .seconds(30)) == .exited(0))
  }
}

@Suite(.serialized) struct `fleetctl hello and request` {
  @Test func `show the door's answer`() async throws {
    let phones = try TestPhones(1)

    let hello = await phones.run("hello", phones.udid(1))
    let status = await phones.run("request", phones.udid(1), "get", "/status", "--json")

    #expect(hello.code == 0 && hello.output.err.isEmpty)
    #expect(hello.output.lines.count == 2)
    #expect(hello.output.lines.first?.hasPrefix("\(phones.udid(1)) 200, application/json, ") == true)
    #expect(JSON(parsing: Array((hello.output.lines.last ?? "").utf8))?["active"] == true)
    let object = `a command about one phone`.object(status)
    #expect(status.code == 0 && object?["status"] == 200 && object?["json"]?["active"] == true)
  }

  @Test func `describe a picture and never write its bytes`() async throws {
    let phones = try TestPhones(1)

    let done = await phones.run("request", phones.udid(1), "POST", "/photo?camera=front")
    let json = await phones.run("request", phones.udid(1), "POST", "/photo?camera=front", "--json", "-v")

    #expect(done.code == 0)
    #expect(done.output.lines.count == 1 && done.output.lines[0].contains("image/jpeg, JPEG picture, "))
    for output in [done.output, json.output] {
      #expect(!(output.out + output.err).contains("JFIF") && !(output.out + output.err).contains("Exif"))
      #expect(output.out.utf8.count < 2_000)
    }
  }

  @Test func `end with 1 for a refusal, a closed port, silence and a broken reply`() async throws {
    let phones = try TestPhones(4, ios: ["16.7"])
    try phones.fleet.perform("background", on: "1")
    try phones.fleet.perform("kill-app", on: "2")
    try phones.fleet.perform("suspend", on: "3")
    try phones.fleet.perform("door-fault", on: "4", ["kind": "half"])

    let refused = await phones.run("request", phones.udid(1), "POST", "/photo?camera=front")
    let closed = await phones.run("hello", phones.udid(2), "--json")
    let silent = await phones.run("hello", phones.udid(3), "--json", "--deadline", "500ms")
    let broken = await phones.run("hello", phones.udid(4), "--json")

    #expect(refused.code == 1 && refused.output.err.contains("with 409: "))
    for (done, outcome) in [(closed, "refused"), (silent, "silent"), (broken, "bad-reply")] {
      #expect(done.code == 1)
      #expect(`a command about one phone`.object(done)?["outcome"] == .string(outcome), "\(done.output.err)")
      #expect(`a command about one phone`.object(done)?["status"] == .null)
    }
    #expect(closed.output.err.contains("Nothing is listening on the phone's port 8127; is the app running?"))
  }

  @Test func `with hardly any time, or none, blame neither daemon nor phone`() async throws {
    let phones = try TestPhones(1)

    for command in [["hello", phones.udid(1)], ["request", phones.udid(1), "GET", "/hello"]] {
      let none = await Fleetctl.run(command + ["--deadline", "0s"], environment: phones.environment)
      #expect(none.code == 2 && none.output.err.contains("It takes a span of time above zero"))
    }
    try phones.fleet.perform("suspend", on: "1")
    let short = await phones.run("request", phones.udid(1), "GET", "/hello", "--deadline", "1ms")
    // Where in the way so little time ends is the machine's choice.
    #expect(short.code == 3 || short.code == 1)
    #expect(short.output.err.contains("The time given, 1 ms, was over before"), "\(short.output.err)")
  }

  @Test func `H34: wait until somebody listens`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("kill-app", on: "1")
    let child = Fleetctl.start(["hello", phones.udid(1), "--wait", "20s"], environment: phones.environment)
    await phones.asked("Connect", times: 2)

    try phones.fleet.perform("launch-app", on: "1")

    #expect(await child.ending() == .exited(0))
  }

  @Test func `H40: judge text that is not UTF-8 by its status`() async throws {
    let phones = try TestPhones(2)
    try phones.fleet.perform("door-fault", on: "1", ["kind": "surrogate"])
    try phones.fleet.perform("door-fault", on: "2", ["kind": "surrogate-500"])

    let well = await phones.run("hello", phones.udid(1))
    let ill = await phones.run("hello", phones.udid(2))

    #expect(well.code == 0 && well.output.out.contains("\u{FFFD}"))
    #expect(ill.code == 1)
  }

  @Test func `send the configured token, none, or a wrong one, and never show it`() async throws {
    let phones = try TestPhones(1, token: "s3cret-token")
    let token = phones.folder.write("s3cret-token\n", to: "token")
    let file = phones.folder.write(
      "version: 1\napp: {bundle: com.example.kiosk}\ndoor: {token-file: \(token)}\n", to: "token.yaml")

    let right = await phones.run("hello", phones.udid(1), "--config", file, "-v", "--json")
    let none = await phones.run("hello", phones.udid(1), "--config", file, "--token", "none")
    let wrong = await phones.run("hello", phones.udid(1), "--config", file, "--token", "wrong")

    #expect(right.code == 0, "\(right.output.err)")
    #expect(none.code == 1 && none.output.err.contains("with 401"))
    #expect(wrong.code == 1 && wrong.output.err.contains("with 401"))
    for output in [right.output, none.output, wrong.output] { #expect(!(output.out + output.err).contains("s3cret")) }
  }

  @Test func `take the door's usual requests in fleet.yaml's form`() async throws {
    let phones = try TestPhones(1)
    let file = phones.folder.write(
      "version: 1\napp: {bundle: com.example.kiosk}\ndoor: {hello: GET /status}\n", to: "form.yaml")

    let done = await phones.run("request", phones.udid(1), "GET", "/hello", "--json", "--config", file)

    #expect(`a command about one phone`.object(done)?["request"] == "GET /status")
    #expect(`a command about one phone`.object(done)?["json"]?["cameras"] != nil)
  }

  @Test(arguments: [["GET", "hello"], ["G T", "/hello"], ["GET", "/a b"], ["GET", "/\u{1B}"]])
  func `refuse what is no request`(_ words: [String]) async throws {
    let done = await Fleetctl.run(["request", "hall"] + words)

    #expect(done.code == 2 && done.output.err.contains("is no request."))
  }

  @Test func `leave at once when a signal comes while the door is silent`() async throws {
    let phones = try TestPhones(1)
    try phones.fleet.perform("suspend", on: "1")
    let child = Fleetctl.start(["hello", phones.udid(1)], environment: phones.environment)
    await phones.asked("Connect", times: 1)

    child.signal(SIGINT)

    #expect(await child.ending(within: .seconds(2)) == .exited(130))
  }
}
