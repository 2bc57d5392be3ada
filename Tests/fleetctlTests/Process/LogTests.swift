import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

/// Says lines in a phone's log again and again: the phone drops what it says before it has seen its listener.
private func speak(_ phones: TestPhones, _ lines: [String: String]..., until over: Latch) {
  let fleet = phones.fleet
  _ = Worker(name: "speaker") {
    repeat {
      for line in lines { try? fleet.perform("log", on: "1", line) }
    } while !over.wait(until: .after(.milliseconds(50)))
  }
}

@Suite(.serialized) struct `fleetctl log` {
  @Test func `shows each line as it is written, and nothing that could steer the terminal`() async throws {
    let phones = try TestPhones(1)
    let child = Fleetctl.start(["log", phones.udid(1), "-v"], environment: phones.environment)
    #expect(await child.prints { $0.err.contains("is open") })

    let over = Latch()
    speak(phones, ["text": "hello \u{1B}[2J \u{202E}there", "process": "backboardd"], until: over)

    #expect(await child.prints { $0.out.contains("there\n") })
    over.open()
    child.signal(SIGTERM)
    #expect(await child.ending(within: .seconds(2)) == .exited(143))
    let line = child.output.lines.first { $0.contains("hello") } ?? ""
    #expect(line.contains("backboardd") && line.hasSuffix("hello \\u{1B}[2J \\u{202E}there"))
    #expect(!child.output.out.contains("\u{1B}"))
  }

  @Test func `is an object a line as JSON, and only the app's lines where that is asked for`() async throws {
    let phones = try TestPhones(1)
    let child = Fleetctl.start(["log", phones.udid(1), "--app", "--json", "-v"], environment: phones.environment)
    #expect(await child.prints { $0.err.contains("is open") })

    let over = Latch()
    speak(phones, ["text": "not ours", "process": "backboardd"], ["text": "ours"], until: over)

    #expect(await child.prints { $0.out.contains("ours") })
    over.open()
    child.signal(SIGINT)
    #expect(await child.ending(within: .seconds(2)) == .exited(130))
    let objects = child.output.lines.compactMap { JSON(parsing: Array($0.utf8)) }
    #expect(!objects.isEmpty && objects.count == child.output.lines.count)
    for object in objects {
      #expect(
        Set(object.object.map { Array($0.keys) } ?? []) == ["at", "body", "udid", "process", "pid", "text", "cut"])
      #expect(object["process"] == "Kiosk" && object["pid"]?.int != nil && object["cut"] == false)
    }
    #expect(objects.contains { $0["text"]?.string?.hasSuffix("ours") == true })
    #expect(!child.output.out.contains("not ours"))
  }

  @Test func `ends when the phone leaves, and cannot begin without trust or the app`() async throws {
    let phones = try TestPhones(3, ios: ["16.7"])
    try phones.fleet.perform("untrust", on: "2")
    try phones.fleet.perform("uninstall-app", on: "3")
    let child = Fleetctl.start(["log", phones.udid(1), "-v"], environment: phones.environment)
    #expect(await child.prints { $0.err.contains("is open") })

    try phones.fleet.perform("detach", on: "1")
    let untrusted = await phones.run("log", phones.udid(2))
    let noApp = await phones.run("log", phones.udid(3), "--app")

    #expect(await child.ending() == .exited(3), "\(child.output.err)")
    #expect(child.output.err.contains("fleetctl: Phone \(phones.udid(1))"))
    #expect(untrusted.code == 3 && untrusted.output.err.contains("is not trusted"))
    #expect(noApp.code == 1 && noApp.output.err.contains("com.example.kiosk is not installed on \(phones.udid(3))"))
  }

  @Test func `H33: ends quietly when nobody reads it, and not so when it cannot be written`() async throws {
    let phones = try TestPhones(1)

    for stdout in [ChildProcess.Stdout.pipeNobodyReads, .closed, .file("/dev/full")] {
      let child = Fleetctl.start(["log", phones.udid(1), "-v"], environment: phones.environment, stdout: stdout)
      #expect(await child.prints { $0.err.contains("is open") })
      let over = Latch()
      speak(phones, ["text": "hello"], until: over)

      #expect(await child.ending() == .exited(3))
      over.open()
      let complains = child.output.err.contains("could not be written")
      if case .pipeNobodyReads = stdout { #expect(!complains) } else { #expect(complains) }
    }
  }
}
