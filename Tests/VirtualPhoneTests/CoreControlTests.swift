import Glibc
import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `the control socket` {
  private func client(_ test: TestFleet) -> ControlClient { ControlClient(path: "\(test.folder)/control") }

  @Test func `is for its owner alone`() throws {
    let test = try TestFleet()
    var info = stat()

    #expect(lstat("\(test.folder)/control", &info) == 0)
    #expect(info.st_mode & 0o777 == 0o600)
  }

  @Test func `does an action, and shows the phones as they are then`() throws {
    let test = try TestFleet(phones: 2, ios: ["17.6", "18.5"])

    try client(test).perform("lock", on: "Phone 2")
    try client(test).perform("detach", on: "1")

    let phones = try client(test).phones()
    #expect(phones.map(\.number) == [1, 2])
    #expect(phones.map(\.locked) == [false, true])
    #expect(phones.map(\.attached) == [false, true])
    #expect(phones.map(\.ios) == ["17.6", "18.5"])
    #expect(phones.map(\.udid) == test.fleet.phones.map(\.udid.description))
  }

  @Test func `lists every action once, each with what it does`() throws {
    let test = try TestFleet()

    let actions = try client(test).actions()

    #expect(Set(actions.map(\.name)).count == actions.count)
    #expect(actions.allSatisfy { !$0.summary.isEmpty && !$0.summary.contains("\n") })
    for name in ["lock", "unlock", "attach", "detach", "reboot", "trust", "untrust", "set-value", "mount", "list-as"] {
      #expect(actions.contains { $0.name == name }, "\(name)")
    }
  }

  @Test func `tells the journal, and goes on telling while the reader wants`() async throws {
    let test = try TestFleet()
    let client = client(test)
    _ = try test.mux().ask(["MessageType": "ListDevices"])
    let arrived = Latch()

    let events = try await onWorker {
      _ = Worker(name: "later") {
        guard arrived.wait(until: .after(soon)) else { return }
        do { try test.fleet.perform("lock", on: "1") } catch {}
      }
      var events: [String] = []
      try client.journal(follow: true) { entry in
        events.append(entry["event"]?.string ?? "")
        arrived.open()
        return events.last != "action"
      }
      return events
    }

    #expect(events.contains("mux-request"))
    #expect(events.last == "action")
  }

  @Test func `ends the reader's journal when the fleet ends`() async throws {
    let test = try TestFleet()
    let client = client(test)
    _ = try test.mux().ask(["MessageType": "ListDevices"])

    let count = try await onWorker {
      var count = 0
      try client.journal(follow: true) { _ in
        count += 1
        if count == 1 { _ = Worker(name: "end") { test.fleet.stop() } }
        return true
      }
      return count
    }

    #expect(count >= 1)
  }

  @Test(arguments: [
    "", "[]", "nonsense", "{}", #"{"list": "cats"}"#, #"{"do": 5}"#, #"{"do": "lock"}"#, #"{"do": "lock", "phone": 1}"#,
  ])
  func `answers what it does not understand with a sentence, and goes on`(line: String) throws {
    let test = try TestFleet()
    let socket = try Socket.connect(to: .unix(path: "\(test.folder)/control"), by: .after(soon))
    var lines = LineReader()

    try socket.write(Array((line + "\n").utf8), by: .after(soon))
    let first = lines.next(from: socket, by: .after(soon))
    try socket.write(Array("{\"list\": \"phones\"}\n".utf8), by: .after(soon))
    let second = lines.next(from: socket, by: .after(soon))

    let answer = JSON(parsing: try #require(first))
    let next = JSON(parsing: try #require(second))
    #expect(answer?["error"]?.string?.isEmpty == false)
    #expect(next?["phones"]?.array?.count == 1)
  }

  @Test func `says so when there is no fleet`() throws {
    let error = #expect(throws: ActionError.self) {
      try ControlClient(path: "/nonexistent/control").perform("lock", on: "1")
    }

    #expect(error?.sentence.contains("/nonexistent/control") == true)
    #expect(error?.sentence.hasSuffix("fleetctl virtual.") == true)
  }
}

@Suite struct `an action` {
  private func refusal(_ test: TestFleet, _ action: String, _ phone: String, _ values: [String: String] = [:]) -> String
  {
    #expect(throws: ActionError.self) { try test.fleet.perform(action, on: phone, values) }?.sentence ?? ""
  }

  @Test func `finds its phone by number, name, and UDID in any spelling`() throws {
    let test = try TestFleet(phones: 3)
    let udid = test.fleet.phones[2].udid

    for typed in ["3", "Phone 3", udid.description, udid.description.lowercased(), udid.bare] {
      try test.fleet.perform("lock", on: typed)
      #expect(test.fleet.phones.map { phone in phone.state.with { $0.locked } } == [false, false, true], "\(typed)")
      try test.fleet.perform("unlock", on: typed)
    }
  }

  @Test func `follows a phone's new name, and still knows the old`() throws {
    let test = try TestFleet()
    try test.fleet.perform("name", on: "1", ["to": "Hall"])

    try test.fleet.perform("lock", on: "Hall")
    try test.fleet.perform("unlock", on: "Phone 1")

    #expect(test.first.state.with { $0.name } == "Hall")
  }

  @Test func `names the candidates when the phone is unknown or ambiguous`() throws {
    let test = try TestFleet(phones: 2)

    let unknown = refusal(test, "lock", "ffff")
    let ambiguous = refusal(test, "lock", "00008110")

    #expect(unknown.hasPrefix("There is no virtual phone ffff."))
    #expect(ambiguous.hasPrefix("More than one virtual phone is 00008110."))
    for phone in test.fleet.phones {
      #expect(unknown.contains(phone.udid.description) && ambiguous.contains(phone.udid.description))
    }
  }

  @Test func `suggests the word that was meant`() throws {
    let test = try TestFleet()

    #expect(refusal(test, "lokc", "1").contains("Did you mean lock?"))
    #expect(refusal(test, "battery", "1", ["percnt": "5"]).contains("Did you mean percent?"))
    #expect(refusal(test, "trust", "1", ["mode": "asks"]).contains("Did you mean ask?"))
    #expect(refusal(test, "lock", "1", ["hard": "yes"]).contains("takes no keys"))
    #expect(refusal(test, "lockdown-error", "1", ["error": "InvalidHostId"]).contains("Did you mean InvalidHostID?"))
  }

  @Test(
    arguments: [
      ("battery", ["percent": "101"]), ("battery", ["percent": "-1"]), ("battery", ["percent": "many"]),
      ("battery", ["charging": "maybe"]), ("battery", ["temperature": "nan"]), ("reboot", ["for": "soon"]),
      ("reboot", ["for": "-1s"]), ("reboot", ["for": "2d"]), ("mux-chunk", ["bytes": "1e3"]), ("set-value", [:]),
      ("set-value", ["PasswordProtected": "maybe", "type": "boolean"]),
      ("set-value", ["DeviceName": "<string>", "type": "xml"]),
      ("set-value", ["DeviceName": "</array><key>", "type": "xml"]),
    ] as [(String, [String: String])])
  func `refuses a value that it cannot take, and changes nothing`(action: String, values: [String: String]) throws {
    let test = try TestFleet()
    let battery = test.first.state.with { $0.battery }

    let sentence = refusal(test, action, "1", values)

    #expect(sentence.contains("Try: "))
    #expect(test.first.state.with { $0.battery } == battery)
    #expect(test.first.state.with { $0.attached && $0.overrides.isEmpty })
  }

  @Test func `reads times with their units`() throws {
    let values = ActionValues(["a": "5ms", "b": "2s", "c": "1.5", "d": "3m", "e": "1h"])

    #expect(try values.duration("a") == .milliseconds(5))
    #expect(try values.duration("b") == .seconds(2))
    #expect(try values.duration("c") == .milliseconds(1500))
    #expect(try values.duration("d") == .seconds(180))
    #expect(try values.duration("e") == .seconds(3600))
    #expect(try values.duration("f") == nil)
  }

  @Test func `is in the journal with its keys and without their values`() throws {
    let test = try TestFleet()

    try test.fleet.perform("name", on: "1", ["to": "a secret"])

    let entry = try #require(test.fleet.journal.entries().last)
    #expect(entry.event == "action")
    #expect(entry.details == ["action": "name", "keys": ["to"]])
    #expect(entry.udid == test.first.udid)
  }
}
