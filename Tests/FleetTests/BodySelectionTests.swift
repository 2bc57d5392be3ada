import DeviceBridge
import Fleet
import Testing
import Wire

@Suite struct `naming a body` {
  private static let first = "00008110-000A1B2C3D4E5F60"
  private static let second = "00008101-000A1B2C3D4E001E"
  private static let old = "0123456789abcdef0123456789abcdef01234567"

  private func phone(_ udid: String, _ transport: PhoneTransport = .usb) -> ListedPhone {
    ListedPhone(udid: UDID(udid), serial: udid, deviceID: 1, transport: transport, alsoNetwork: false)
  }

  private func file(_ bodies: (udid: String, name: String?)...) -> FleetConfiguration {
    var configuration = FleetConfiguration()
    configuration.file = "fleet.yaml"
    configuration.bodies = bodies.map { BodyEntry(udid: UDID($0.udid), name: $0.name, under: configuration) }
    return configuration
  }

  private func attempt(_ typed: String, in selection: BodySelection) -> String {
    do throws(BodySelectionError) {
      return try selection.resolve(typed).title
    } catch {
      return "\(error.exitCode.number): \(error.sentence)"
    }
  }

  @Test(arguments: [
    "hall", "hal", "00008110-000A1B2C3D4E5F60", "00008110000a1b2c3d4e5f60", "00008110-000a1b2c3d4e5f60", "0000811",
    "00008110000A",
  ])
  func `H02, H03: takes a name, a UDID in any spelling, or a start of either`(_ typed: String) throws {
    let selection = BodySelection(
      file((Self.first, "hall"), (Self.second, "stairs")), phones: [phone(Self.first), phone(Self.second)])

    #expect(try selection.resolve(typed).name == "hall")
  }

  @Test func `H03: shows the spelling of the mux`() throws {
    let selection = BodySelection(file((Self.old, "hall")), phones: [phone(Self.old.uppercased())])

    #expect(try selection.resolve("hall").udid.description == Self.old.uppercased())
  }

  @Test func `prefers a whole name to the start of another`() throws {
    let selection = BodySelection(file((Self.first, "hall"), (Self.second, "hall-2")), phones: [])

    #expect(try selection.resolve("hall").udid == UDID(Self.first))
  }

  @Test func `with something that begins several is ambiguous, with the candidates`() {
    let selection = BodySelection(
      file((Self.first, "hall"), (Self.second, "hut")), phones: [phone(Self.first), phone(Self.second)])

    #expect(
      attempt("h", in: selection)
        == "2: 'h' could be hall (\(Self.first)) or hut (\(Self.second)). Several begin like that. "
        + "Type more of the one that is meant; see them with: fleetctl devices")
    #expect(attempt("00008", in: selection).hasPrefix("2: '00008' could be"))
  }

  @Test(arguments: ["", "-", "nobody"])
  func `with anything else is unknown, with the candidates`(_ typed: String) {
    let selection = BodySelection(file((Self.first, nil)), phones: [phone(Self.first)])

    #expect(
      attempt(typed, in: selection)
        == "2: No body is called '\(typed)'. The bodies are: \(Self.first). See them with: fleetctl devices")
  }

  @Test func `that the file knows and nobody has attached is known and absent`() throws {
    let selection = BodySelection(file((Self.first, "hall")), phones: [])

    let body = try selection.resolve(Self.first.lowercased())

    #expect(body.name == "hall")
    #expect(body.phone == nil)
  }

  @Test func `that only the record knows is absent, not unknown`() throws {
    let selection = BodySelection(FleetConfiguration(), phones: [phone(Self.first)], known: [UDID(Self.second)])

    #expect(try selection.resolve(Self.second).phone == nil)
    #expect(try selection.resolve(Self.first).phone != nil)
  }

  @Test func `without a file takes every phone on a cable`() throws {
    let selection = BodySelection(
      FleetConfiguration(), phones: [phone(Self.first), phone(Self.old), phone(Self.second, .network)])

    #expect(selection.bodies.map(\.udid) == [UDID(Self.first), UDID(Self.old)])
    #expect(
      attempt(Self.second, in: selection)
        == "3: Phone \(Self.second) is seen over the network only, and such phones are never connected to. "
        + "Its cable may be loose. Plug it in, then: fleetctl devices")
  }

  @Test func `with a file takes only its bodies`() {
    let selection = BodySelection(file((Self.first, "hall")), phones: [phone(Self.first), phone(Self.second)])

    #expect(selection.bodies.map(\.name) == ["hall"])
    #expect(
      attempt(Self.second, in: selection)
        == "2: Phone \(Self.second) is attached, but is no body: fleet.yaml names others only. "
        + "Add it with: fleetctl init --add")
  }

  @Test func `may name a phone on the network, which is a body then`() throws {
    let selection = BodySelection(file((Self.first, "hall")), phones: [phone(Self.first, .network)])

    #expect(try selection.resolve("hall").phone?.transport == .network)
  }

  @Test func `by tag and name takes each once, in the file's order`() throws {
    var configuration = file((Self.first, "hall"), (Self.second, "stairs"), (Self.old, "roof"))
    configuration.bodies?[0].tags = ["new"]
    configuration.bodies?[1].tags = ["new"]
    let selection = BodySelection(configuration, phones: [])

    #expect(try selection.resolve(["stairs", "tag:new"]).map(\.name) == ["hall", "stairs"])
    #expect(try selection.resolve(["tag:none"]).isEmpty)
    #expect(throws: BodySelectionError.self) { try selection.resolve(["hall", "cellar"]) }
  }
}

@Suite struct `the words of outcomes` {
  @Test func `are each a reason of some kind`() {
    let used = OutcomeKind.allCases.flatMap { $0.reasons + $0.hostReasons }

    #expect(OutcomeReason.allCases.allSatisfy { used.contains($0) })
  }

  @Test func `are spelled as in the record`() {
    #expect(OutcomeKind.launchedNoAnswer.rawValue == "launched-no-answer")
    #expect(OutcomeKind.launchRefused.reasons.map(\.rawValue).contains("not-on-this-ios"))
    #expect(Verdict.allCases.map(\.rawValue) == ["passed", "failed", "skipped", "error", "flaky", "quarantined"])
    #expect(Set(Verdict.allCases.map(\.symbol)).count == 6)
  }
}
