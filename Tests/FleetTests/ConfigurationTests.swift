import DeviceBridge
import Fleet
import Testing
import Wire

/// What a fleet.yaml is refused for, one `line:column: sentence` a problem.
private func refusal(of text: String) -> [String] {
  do throws(Problems) {
    _ = try FleetConfiguration.parse(Array(text.utf8), file: "f")
    return []
  } catch {
    return error.list.map { String($0.description.dropFirst(2)) }
  }
}

private func configuration(_ text: String, file: String = "/etc/fleetctl/fleet.yaml") throws -> FleetConfiguration {
  try FleetConfiguration.parse(Array(text.utf8), file: file)
}

@Suite struct `fleet.yaml` {
  /// The example of the documentation, whole.
  static let example = """
    version: 1
    app: {bundle: com.example.kiosk, launcher: auto, decoy: com.apple.Preferences}
    door: {port: 8127, token-file: /etc/fleetctl/token, hello: GET /hello, status: GET /status,
           photo: "POST /photo?camera={camera}", clip: "POST /clip?camera={camera}&seconds={seconds}"}
    supervise: {every: 10s, grace: 5m, spacing: 5m, settle: 15s, answer-within: 10s, listen: 127.0.0.1:8087, token-file: null, hosts: [], ping: {url: null, every: 60s}, on-change: {command: null}}
    hands: {port: 8100}                # or none
    images: {folder: /var/lib/fleetctl/images, signing: apple, mount: never}
    record: {sqlite: /var/lib/fleetctl/fleet.sqlite, keep: 400d}
    arrange:
      locked:   {command: [press-side-button, "{udid}"]}
      unlocked: {operator: "Unlock {name} and leave it on the home screen"}
    bodies:
      - {udid: 00008110-000A1B2C3D4E5F60, name: hall, tags: [ios18], door: {port: 8130}}
      - {udid: 00008101-000A1B2C3D4E001E, name: stairs, out-of-service: {reason: battery, until: 2026-12-20}}

    """

  @Test func `is read whole`() throws {
    let read = try configuration(Self.example)

    #expect(read.app.bundle == "com.example.kiosk")
    #expect(read.door.tokenFile == "/etc/fleetctl/token")
    #expect(read.door.forms == DoorSettings.usual)
    #expect(read.supervise == SuperviseSettings())
    #expect(read.hands.port == 8100)
    #expect(read.images.folder == "/var/lib/fleetctl/images")
    #expect(read.images.signing == .apple)
    #expect(read.record.sqlite == "/var/lib/fleetctl/fleet.sqlite")
    #expect(read.record.keep == .seconds(400 * 86_400))
    #expect(read.arrange[.locked] == ArrangeMeans(command: ["press-side-button", "{udid}"]))
    #expect(read.arrange[.unlocked]?.operatorText == "Unlock {name} and leave it on the home screen")
    let bodies = try #require(read.bodies)
    #expect(bodies.map(\.name) == ["hall", "stairs"])
    #expect(bodies[0].udid == UDID("00008110-000A1B2C3D4E5F60"))
    #expect(bodies[0].door.port == 8130)
    #expect(bodies[0].door.tokenFile == "/etc/fleetctl/token")
    #expect(bodies[0].tags == ["ios18"])
    #expect(bodies[1].outOfService == OutOfService(reason: "battery", until: CalendarDay("2026-12-20")))
  }

  @Test func `may be nearly empty, and the defaults hold`() throws {
    let read = try configuration("version: 1\n")

    var expected = FleetConfiguration()
    expected.file = "/etc/fleetctl/fleet.yaml"
    #expect(read == expected)
    #expect(read.app.bundle == nil)
    #expect(read.bodies == nil)
  }

  @Test func `lets a body override its sections, key by key`() throws {
    let read = try configuration(
      """
      app: {bundle: com.example.kiosk, decoy: com.example.decoy}
      hands: {port: 8100}
      arrange:
        locked: {command: [lock]}
        unlocked: {command: [unlock]}
      bodies:
        - udid: 0123456789abcdef0123456789abcdef01234567
          app: {launcher: none}
          hands: none
          supervise: {grace: 1m}
          arrange: {unlocked: {operator: Unlock it, deadline: 2m}}

      """)

    let body = try #require(read.bodies?.first)
    #expect(body.app.launcher == .others)
    #expect(body.app.decoy == "com.example.decoy")
    #expect(body.hands.port == nil)
    #expect(body.supervise.grace == .seconds(60))
    #expect(body.supervise.spacing == .seconds(300))
    #expect(body.arrange[.locked]?.command == ["lock"])
    #expect(body.arrange[.unlocked] == ArrangeMeans(operatorText: "Unlock it", deadline: .seconds(120)))
    #expect(read.hands.port == 8100)
  }

  @Test func `takes relative paths from its own folder`() throws {
    let read = try configuration("door: {token-file: token}\nimages: {folder: images}\n", file: "lab/fleet.yaml")

    #expect(read.door.tokenFile == "lab/token")
    #expect(read.images.folder == "lab/images")
  }

  @Test func `can stay off the network for signing, and serve no page`() throws {
    let read = try configuration("images: {signing: none, mount: auto}\nsupervise: {listen: null}\n")

    #expect(read.images.signing == .offline)
    #expect(read.images.mount == .auto)
    #expect(read.supervise.listen == nil)
    let own = try configuration("images: {signing: 'http://x:81/'}\n").images.signing
    #expect(own == .address("http://x:81/") && own.service?.port == 81)
    #expect(throws: Problems.self) { try configuration("images: {signing: 'https://x/'}\n") }
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    var text: String
    var sentences: [String]
    init(_ text: String, _ sentences: String...) {
      self.text = text
      self.sentences = sentences
    }
    var testDescription: String { text.replacing("\n", with: "⏎") }
  }

  @Test(arguments: [
    Refused("bodys: []\n", "1:1: 'bodys' is no key of fleet.yaml; 'bodies' is meant?"),
    Refused(
      "camera: 1\n",
      "1:1: 'camera' is no key of fleet.yaml; its keys are: version, app, door, supervise, hands, images, record, "
        + "arrange, secrets, bodies"),
    Refused("version: 2\n", "1:10: version 2 of fleet.yaml is not known to this fleetctl; it reads version 1"),
    Refused("door: {port: 0}\n", "1:14: 0 is not in 1 to 65535"),
    Refused("door: {port: 65536}\n", "1:14: 65536 is not in 1 to 65535"),
    Refused("door: {port: http}\n", "1:14: 'http' is no whole number"),
    Refused("door: {port: '8127'}\n", "1:14: '8127' is no whole number"),
    Refused("door: {prot: 1}\n", "1:8: 'prot' is no key of door; 'port' is meant?"),
    Refused("door: {hello: /hello}\n", "1:15: '/hello' is no request; one is a method and a path: GET /hello"),
    Refused(
      "door: {photo: 'POST /p?c={seconds}'}\n", "1:15: {seconds} is not filled in here; photo takes {camera}"),
    Refused("door: {hello: 'GET /{name}'}\n", "1:15: {name} is not filled in here; hello takes nothing"),
    Refused("app: com.example.kiosk\n", "1:6: app is a mapping of keys and values, not a text"),
    Refused("app: {launcher: aut}\n", "1:17: 'aut' is not known here; 'auto' is meant?"),
    Refused("app: {bundle: my app}\n", "1:15: 'my app' is no bundle identifier; one is written com.example.kiosk"),
    Refused("app: {decoy: }\n", "1:14: a text is expected here, and there is nothing"),
    Refused(
      "supervise: {every: 10}\n",
      "1:20: '10' is no duration; one is a number with its unit: 200ms, 10s, 1.5s, 5m, 2h, 400d"),
    Refused("supervise: {every: 0s}\n", "1:20: '0s' is no time at all; it must be longer than 0s"),
    Refused(
      "supervise: {listen: localhost}\n",
      "1:21: 'localhost' is no address to listen at; one is written 127.0.0.1:8087"),
    Refused(
      "supervise: {ping: {url: example.org}}\n",
      "1:25: 'example.org' is no web address; one begins with https:// or http://"),
    Refused(
      "supervise: {on-change: {command: notify}}\n", "1:34: a list of texts is expected here, not a text"),
    Refused("supervise: {hosts: no}\n", "1:20: a list of texts is expected here, not a text"),
    Refused("hands: some\n", "1:8: 'some' is not known here; write none, or {port: 8100}"),
    Refused("images: {mount: yes}\n", "1:17: 'yes' is not known here; it is one of: never, auto"),
    Refused("arrange: {lokced: {command: [x]}}\n", "1:11: 'lokced' is no key of arrange; 'locked' is meant?"),
    Refused(
      "arrange: {locked: {}}\n",
      "1:19: arrange: locked names no means; it needs a command, a request or an operator's sentence"),
    Refused(
      "arrange: {locked: {command: []}}\n",
      "1:29: a command is a list of the program and its arguments: [program, argument]"),
    Refused(
      "arrange: {unlocked: {operator: {name} please}}\n",
      "1:39: not YAML while parsing a flow mapping: did not find expected ',' or '}'; "
        + "put quotes around a text with { } or ': '"),
    Refused(
      "arrange: {unlocked: {operator: {name: x}}}\n",
      "1:32: a text is expected here, not a mapping; put quotes around a text that begins with { or ["),
    Refused(
      "bodies:\n  - {udid: hall}\n",
      "2:12: 'hall' is no UDID; one has 40 hexadecimal digits, or 8, a hyphen and 16. Copy it from: fleetctl devices"),
    Refused("bodies:\n  - {name: hall}\n", "2:5: a body needs 'udid'"),
    Refused(
      "bodies:\n  - {udid: 00008110-000A1B2C3D4E5F60, name: -x}\n",
      "2:45: a name must not begin with '-', which means something else on the command line"),
    Refused(
      "bodies:\n  - {udid: 00008110-000A1B2C3D4E5F60, out-of-service: {until: tomorrow}}\n",
      "2:55: out-of-service needs 'reason'"),
    Refused(
      "bodies:\n  - {udid: 00008110-000A1B2C3D4E5F60, out-of-service: {reason: x, until: tomorrow}}\n",
      "2:74: 'tomorrow' is no day; one is written 2026-12-20"),
    Refused(
      "door: {port: 0}\nbodies:\n  - {udid: x, nam: y}\n",
      "1:14: 0 is not in 1 to 65535",
      "3:12: 'x' is no UDID; one has 40 hexadecimal digits, or 8, a hyphen and 16. Copy it from: fleetctl devices",
      "3:15: 'nam' is no key of a body; 'name' is meant?"),
  ])
  func `is refused with place and meaning, all problems at once`(_ row: Refused) {
    #expect(refusal(of: row.text) == row.sentences)
  }

  @Test func `H03: is refused for two entries of one phone, naming both lines`() {
    let text = """
      bodies:
        - udid: 00008101-000A1B2C3D4E001E
        - udid: 0123456789abcdef0123456789abcdef01234567
        - udid: 00008101000a1b2c3d4e001e

      """

    #expect(
      refusal(of: text) == [
        "4:5: the phone 00008101-000a1b2c3d4e001e stands here and already in line 2; "
          + "letter case and hyphen make no other phone"
      ])
  }

  @Test func `H52: is refused for two phones of one name, naming both lines`() {
    let text = """
      bodies:
        - {udid: 00008101-000A1B2C3D4E001E, name: hall}
        - {udid: 0123456789abcdef0123456789abcdef01234567, name: hall}

      """

    #expect(
      refusal(of: text) == ["3:5: the name 'hall' stands here and already in line 2; a name is one phone's"])
  }
}

@Suite struct `looking for fleet.yaml` {
  /// Files that hold their own name as the app's bundle.
  private func files(_ paths: String...) -> Files {
    Files(
      exists: { paths.contains($0) },
      read: { path, _ throws(Problem) in
        guard paths.contains(path) else { throw Problem(file: path, sentence: "cannot be opened: No such file") }
        return Array("app: {bundle: '\(path.replacing("/", with: "."))'}\n".utf8)
      })
  }

  private let environment = ["FLEETCTL_CONFIG": "env", "XDG_CONFIG_HOME": "/xdg", "HOME": "/home/x"]

  @Test func `takes the one that is named first of all`() throws {
    let found = try FleetConfiguration.find(
      explicit: "given", environment: environment, files: files("given", "env", "fleet.yaml"))

    #expect(found.file == "given")
  }

  @Test func `takes the environment's next`() throws {
    let found = try FleetConfiguration.find(explicit: nil, environment: environment, files: files("env", "fleet.yaml"))

    #expect(found.file == "env")
  }

  @Test func `then the usual places in their order`() throws {
    let home = ["HOME": "/home/x"]
    let here = files("fleet.yaml", "/home/x/.config/fleetctl/fleet.yaml", "/etc/fleetctl/fleet.yaml")
    let own = files("/home/x/.config/fleetctl/fleet.yaml", "/etc/fleetctl/fleet.yaml")
    let system = files("/etc/fleetctl/fleet.yaml")

    #expect(try FleetConfiguration.find(explicit: nil, environment: home, files: here).file == "fleet.yaml")
    #expect(
      try FleetConfiguration.find(explicit: nil, environment: home, files: own).file
        == "/home/x/.config/fleetctl/fleet.yaml")
    #expect(
      try FleetConfiguration.find(explicit: nil, environment: [:], files: system).file == "/etc/fleetctl/fleet.yaml")
    #expect(FleetConfiguration.usualPlaces(["XDG_CONFIG_HOME": "/xdg", "HOME": "/h"])[1] == "/xdg/fleetctl/fleet.yaml")
  }

  @Test func `ends with the defaults where there is none`() throws {
    let found = try FleetConfiguration.find(explicit: nil, environment: [:], files: files())

    #expect(found == FleetConfiguration())
  }

  @Test func `does not go on when a named one is missing`() {
    #expect(throws: Problems([Problem(file: "env", sentence: "cannot be opened: No such file")])) {
      try FleetConfiguration.find(explicit: nil, environment: environment, files: files("fleet.yaml"))
    }
  }

  @Test func `refuses anything but a regular file`() {
    #expect(throws: Problems([Problem(file: "/dev/null", sentence: "is not a regular file")])) {
      try FleetConfiguration.load("/dev/null")
    }
    #expect(throws: Problems([Problem(file: "/", sentence: "is not a regular file")])) {
      try FleetConfiguration.load("/")
    }
  }
}

@Suite struct `the door's token` {
  private func token(_ content: String) throws(Problem) -> Secret? {
    var door = DoorSettings()
    door.tokenFile = "t"
    return try door.token(Files(exists: { _ in true }, read: { _, _ throws(Problem) in Array(content.utf8) }))
  }

  @Test func `is the file's one line`() throws {
    #expect(try token("abc123\n")?.value == "abc123")
    #expect(try token("abc123\r\n")?.value == "abc123")
    #expect(try DoorSettings().token() == nil)
  }

  @Test(arguments: ["", "\n", "a b\n", "a\nb\n", "ä\n", "a\u{0}b"])
  func `is refused where no header could carry it`(_ content: String) {
    #expect(throws: Problem.self) { try token(content) }
  }
}
