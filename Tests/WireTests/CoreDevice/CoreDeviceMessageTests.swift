import FoundationEssentials
import Testing
import Wire

@Suite struct `a phone's list of services` {
  private let handshake = RSDHandshake(
    version: 5, uuid: UUID(),
    properties: [
      "UniqueDeviceID": "00008110-000A1B2C3D4E5F60", "OSVersion": "17.5.1", "ProductType": "iPhone14,5",
      "UniqueChipID": .uint64(0xA1B2_C3D4_E5F6),
    ],
    services: [
      CoreDeviceService.apps.rawValue: RSDService(
        port: 50_001, entitlement: "com.apple.private.CoreDevice", usesRemoteXPC: true, version: 1,
        features: [CoreDeviceFeature.launchApplication.identifier]),
      CoreDeviceService.imageMounter.rawValue: RSDService(port: 50_002),
    ])

  @Test func `is the same after the wire`() throws {
    let read = try RSDHandshake(XPCValue(decoding: handshake.body.encoded))

    #expect(read == handshake)
    #expect(read.udid == UDID("00008110-000a1b2c3d4e5f60"))
    #expect(read.osVersion == "17.5.1" && read.productType == "iPhone14,5" && read.ecid == 0xA1B2_C3D4_E5F6)
  }

  @Test func `has its ports as texts, and takes numbers as well`() {
    #expect(RSDService(port: 7).body["Port"] == "7")
    #expect(RSDService(["Port": .int64(7)])?.port == 7)
  }

  @Test(arguments: ["", "0", "65536", "x", nil] as [XPCValue])
  func `passes over an entry without a port`(_ port: XPCValue) throws {
    guard case .dictionary(var body) = handshake.body else { return }
    body["Services"] = ["good": ["Port": "5"], "bad": ["Port": port]]

    #expect(try RSDHandshake(.dictionary(body)).services.keys.sorted() == ["good"])
  }

  @Test func `offers what it lists, and everything where it lists nothing`() {
    let service = handshake.services[CoreDeviceService.apps.rawValue]

    #expect(service?.offers(.launchApplication) == true)
    #expect(service?.offers(.streamProcesses) == false)
    #expect(RSDService(port: 1).offers(.streamProcesses))
  }

  @Test func `is greeted by a host as others greet it`() {
    let bytes = XPCMessage(.push, id: 1, body: RSDHandshake.host(UUID()).body).bytes

    // The size that was seen behind the header of pymobiledevice3's greeting.
    #expect(bytes.count - XPCMessage.headerSize == 240)
  }

  @Test(
    arguments: [nil, [:], ["MessageType": "Hello"], ["MessageType": "Handshake", "Properties": [:]]] as [XPCValue])
  func `is none without its parts`(_ body: XPCValue) {
    #expect(throws: ShapeError.self) { try RSDHandshake(body) }
  }
}

@Suite struct `a call of a phone's feature` {
  @Test(arguments: CoreDeviceFeature.allCases)
  func `is the same after the wire`(_ feature: CoreDeviceFeature) throws {
    let request = CoreDeviceRequest(feature, input: ["a": .int64(1)])

    #expect(try CoreDeviceRequest(XPCValue(decoding: request.body.encoded)) == request)
    #expect(request.known == feature)
  }

  @Test func `of another name is known by that name only`() throws {
    guard case .dictionary(var body) = CoreDeviceRequest(.listApps).body else { return }
    body["CoreDevice.featureIdentifier"] = "com.apple.coredevice.feature.brewcoffee"
    body["CoreDevice.input"] = nil as XPCValue

    let request = try CoreDeviceRequest(.dictionary(body))

    #expect(request.known == nil && request.feature.hasSuffix("brewcoffee") && request.input == .null)
  }

  @Test func `is answered by an output or by an error`() throws {
    let output = CoreDeviceReply.output(["processTokens": []])
    let error = CoreDeviceReply.error(ErrorSamples.locked)

    #expect(try CoreDeviceReply(XPCValue(decoding: output.body.encoded)) == output)
    #expect(try CoreDeviceReply(XPCValue(decoding: error.body.encoded)) == error)
    #expect(throws: ShapeError("CoreDevice.output")) { try CoreDeviceReply(["something": "else"]) }
  }
}

@Suite struct `inputs and outputs of a phone's features` {
  private let process = ProcessToken(
    pid: 411, version: 12, auditToken: [1, 2, 3, 4, 5, 6, 7, .max],
    executable: "file:///private/var/containers/Bundle/Application/X/My%20Kiosk.app/Kiosk")

  @Test(arguments: [true, false])
  func `of a launch are the same after the wire`(_ flag: Bool) throws {
    let input = LaunchInput(
      bundle: "com.example.kiosk", arguments: ["-a", ""], environment: ["A": "b", "C": ""], terminatesExisting: flag,
      activates: !flag, startsStopped: flag)

    #expect(try LaunchInput(XPCValue(decoding: input.body.encoded)) == input)
    #expect(try LaunchOutput(LaunchOutput(process).body).process == process)
  }

  @Test func `of a launch are understood in others' spelling`() throws {
    let options: Plist = ["ActivateSuspended": 1]
    let body: XPCValue = [
      "applicationSpecifier": ["bundleIdentifier": ["_0": "a.b"]],
      "options": ["platformSpecificOptions": .data(options.binary), "workingDirectory": nil],
    ]

    let input = try LaunchInput(body)

    #expect(input == LaunchInput(bundle: "a.b", terminatesExisting: false, activates: false))
  }

  @Test func `of a list, a signal, a lock, a picture and an app are the same after the wire`() throws {
    let list = ProcessList([process, ProcessToken(pid: 0)])
    let picture = ScreenshotOutput(image: [1, 2], format: "png", display: "1")
    let app = AppEntry(bundle: "a.b", name: "B", path: "file:///b.app/", version: "1", build: "2", isDeveloperApp: true)

    #expect(try ProcessList(list.body) == list)
    #expect(try ProcessList(elements: list.elements) == list)
    #expect(try SignalInput(SignalInput(pid: 411, signal: 9).body) == SignalInput(pid: 411, signal: 9))
    for flag in [true, false] {
      let lock = LockStateOutput(passcodeRequired: flag, unlockedSinceBoot: !flag)
      #expect(try LockStateOutput(lock.body) == lock)
    }
    #expect(try ScreenshotInput(ScreenshotInput(format: "jpeg").body) == ScreenshotInput(format: "jpeg"))
    #expect(try ScreenshotOutput(picture.body) == picture)
    #expect(try AppListInput(AppListInput(hidden: true).body) == AppListInput(hidden: true))
    #expect(try AppEntry(app.body) == app)
  }

  @Test func `name the path of an executable without its URL's escapes`() {
    #expect(process.path == "/private/var/containers/Bundle/Application/X/My Kiosk.app/Kiosk")
    #expect(ProcessToken(pid: 1, executable: "file:///a%2").path == "/a%2")
    #expect(ProcessToken(pid: 1, executable: "/sbin/launchd").path == "/sbin/launchd")
    #expect(ProcessToken(pid: 1).path == nil)
  }

  @Test func `of another kind are named by what is missing`() {
    #expect(throws: ShapeError("applicationSpecifier")) { try LaunchInput([:]) }
    #expect(throws: ShapeError("processToken")) { try LaunchOutput([:]) }
    #expect(throws: ShapeError("processTokens")) { try ProcessList(["processTokens": "none"]) }
    #expect(throws: ShapeError("processIdentifier")) { try ProcessToken(["processIdentifier": .int64(-1)]) }
    #expect(throws: ShapeError("processIdentifier")) { try ProcessToken(["processIdentifier": .uint64(.max)]) }
    #expect(throws: ShapeError("passcodeRequired")) { try LockStateOutput(["passcodeRequired": "yes"]) }
    #expect(throws: ShapeError("image")) { try ScreenshotOutput([:]) }
  }
}

@Suite struct `a stream of a phone's answers` {
  @Test func `is the same after the wire`() throws {
    let input = StreamInput(wrapping: ["a": true])
    let pushes: [StreamPush.Status] = [.elements([["x": nil]]), .elements([]), .finished, .failed(ErrorSamples.locked)]

    #expect(try StreamInput(input.body) == input)
    for status in pushes {
      let push = StreamPush(status, channel: input.channel)
      #expect(StreamPush(push.body) == push)
    }
  }

  @Test func `is no stream where there is no state`() {
    #expect(StreamPush(["CoreDevice.output": [:]]) == nil)
    #expect(StreamPush(StreamPush(.failed(nil), channel: nil).body) == StreamPush(.failed(nil), channel: nil))
  }
}

@Suite struct `the greeting of a service in the tunnel` {
  @Test func `is done after both answers`() throws {
    let replies = RSDCheckin.replies()

    #expect(try replies.reduce(RSDCheckin.Step.checkin) { try $0.after($1) } == .done)
    #expect(RSDCheckin.request(label: "x")["ProtocolVersion"] == "2")
  }

  @Test func `is refused by the phone's word, or by anything else`() throws {
    let replies = RSDCheckin.replies(error: "ServiceProhibited")

    #expect(throws: RSDCheckinError.refused("ServiceProhibited")) {
      try replies.reduce(RSDCheckin.Step.checkin) { try $0.after($1) }
    }
    #expect(throws: RSDCheckinError.unexpected) { try RSDCheckin.Step.checkin.after(["Request": "StartService"]) }
    #expect(throws: RSDCheckinError.unexpected) { try RSDCheckin.Step.start.after([]) }
  }
}
