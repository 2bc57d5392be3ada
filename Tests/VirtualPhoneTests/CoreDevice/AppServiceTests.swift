import FoundationEssentials
import Testing
import Transport
import Wire

@testable import VirtualPhone

private let kiosk = "com.example.kiosk"

/// Calls without a tunnel: what a service answers is a function of the call.
struct ServicePhone {
  let test: TestPhone

  init(_ ios: String = "18.5", token: String? = nil, runs: Bool = false) throws {
    test = try TestPhone(ios: ios, token: token, runs: runs)
  }

  func answer(_ feature: CoreDeviceFeature, _ input: XPCValue = [:]) -> FeatureAnswer {
    let services: [any FeatureService] = [AppFeatures(), DeviceFeatures(), ScreenFeatures()]
    let service = services.first { $0.name == feature.service }
    return service?.answer(CoreDeviceRequest(feature, input: input).body, on: test.phone) ?? .close
  }

  func reply(_ feature: CoreDeviceFeature, _ input: XPCValue = [:]) -> CoreDeviceReply? {
    if case .reply(let reply) = answer(feature, input) { reply } else { nil }
  }

  func launch(_ input: LaunchInput = LaunchInput(bundle: kiosk)) -> CoreDeviceReply? {
    reply(.launchApplication, input.body)
  }

  func signal(_ pid: Int, _ number: Int) -> CoreDeviceReply? {
    reply(.sendSignal, SignalInput(pid: pid, signal: number).body)
  }

  var process: AppProcess? { test.app.process(kiosk) }
}

extension ErrorChain {
  /// The codes from the outermost error inwards.
  var codes: [Int64] { [code] + (underlying.first?.codes ?? []) }
  var deepest: ErrorChain { underlying.first?.deepest ?? self }
}

@Suite struct `appservice` {
  @Test func `launches with arguments and environment, and tells the process`() throws {
    let phone = try ServicePhone(token: "hunter2")

    let reply = phone.launch(
      LaunchInput(bundle: kiosk, arguments: ["-hall", "7"], environment: ["TOKEN": "x hunter2", "MODE": "kiosk"]))

    let process = try #require(phone.process)
    let token = try LaunchOutput(try #require(reply?.output)).process
    #expect(token.pid == process.pid && token.path == process.path && token.auditToken.count == 8)
    #expect(process.arguments == ["-hall", "7"] && process.environment["TOKEN"] == "x hunter2")
    #expect(phone.test.app.isActive)
    let entry = try #require(phone.test.events("coredevice-launch").first?.details)
    #expect(entry["app"]?.string == kiosk && entry["arguments"] == ["-hall", "7"])
    #expect(entry["environment"] == ["TOKEN": "x ***", "MODE": "kiosk"])
    #expect(entry["terminate_existing"] == true && entry["activate"] == true && entry["start_stopped"] == false)
  }

  @Test func `H32: ends a running instance only when it is asked to`() throws {
    let phone = try ServicePhone(runs: true)
    let first = try #require(phone.process)
    phone.test.app.sendToBackground()

    let forward = phone.launch(LaunchInput(bundle: kiosk, terminatesExisting: false))
    let inFront = phone.test.app.isActive
    let anew = phone.launch()

    #expect(forward?.output?["processToken"]?["processIdentifier"]?.int == first.pid && inFront)
    #expect(first.end == .signal(9))
    #expect(anew?.output?["processToken"]?["processIdentifier"]?.int == phone.process?.pid)
    #expect(phone.process?.pid != first.pid)
  }

  @Test func `can leave what is in front there, and start a process that waits`() throws {
    let phone = try ServicePhone()
    try phone.test.perform("background", ["app": "com.apple.Preferences"])

    #expect(phone.launch(LaunchInput(bundle: kiosk, activates: false))?.output != nil)
    #expect(phone.process?.isStopped == true && !phone.test.app.isActive)
    #expect(try phone.test.connect() == nil)
    #expect(phone.launch(LaunchInput(bundle: kiosk, terminatesExisting: false))?.output != nil)
    #expect(phone.process?.isStopped == false && phone.test.app.isActive)
    #expect(phone.launch(LaunchInput(bundle: kiosk, startsStopped: true))?.output != nil)
    let pid = try #require(phone.process?.pid)
    #expect(phone.process?.isStopped == true)
    #expect(phone.signal(pid, 19)?.output != nil)
    #expect(phone.process?.isStopped == false)
  }

  @Test(
    arguments: [
      ("locked", [10002, 1, 7], "FBSOpenApplicationErrorDomain", "Locked"),
      ("not-found", [10002, 4, 4], "FBSOpenApplicationErrorDomain", "NotFound"),
      ("security", [10002, 1, 3], "FBSOpenApplicationErrorDomain", "Security"),
      ("busy", [10002, 1, 6], "FBSOpenApplicationErrorDomain", "Busy"),
      ("internal", [10002, 1], "FBSOpenApplicationServiceErrorDomain", "RequestDenied"),
      ("empty", [10002], "com.apple.dt.CoreDeviceError", nil),
    ] as [(String, [Int64], String, String?)])
  func `H29: refuses a launch with errors beneath errors`(
    kind: String, codes: [Int64], domain: String, name: String?
  ) throws {
    let phone = try ServicePhone()
    try phone.test.perform("launch-fault", ["kind": kind])

    let reply = try #require(phone.launch())

    // As it goes over the wire and back: the archive holds what the plain part does not.
    let chain = try #require(try CoreDeviceReply(reply.body).error)
    #expect(chain.domain == "com.apple.dt.CoreDeviceError" && chain.codes == codes)
    #expect(chain.deepest.domain == domain && chain.deepest.codeName == name)
    #expect(phone.process == nil)
  }

  @Test func `H28: a locked phone refuses and starts nothing, or accepts and lets the app wait`() throws {
    let phone = try ServicePhone()
    try phone.test.perform("lock")

    let refused = try #require(phone.launch()?.error)
    let none = phone.process
    try phone.test.perform("locked-launch", ["mode": "accept"])
    let accepted = phone.launch()

    #expect(none == nil && refused.codes == [10002, 1, 7])
    #expect(refused.words.contains("because the device was not, or could not be, unlocked"))
    #expect(accepted?.output != nil && phone.process?.isStopped == true && !phone.test.app.isActive)
    try phone.test.perform("unlock")
    #expect(phone.test.app.isActive && phone.process?.isStopped == false)
  }

  @Test(arguments: [("silent", FeatureAnswer.silence, false), ("mute", .silence, true), ("lost", .close, false)])
  func `H28: can leave a launch without an answer`(kind: String, answer: FeatureAnswer, runs: Bool) throws {
    let phone = try ServicePhone()
    try phone.test.perform("launch-fault", ["kind": kind])

    #expect(phone.answer(.launchApplication, LaunchInput(bundle: kiosk).body) == answer)
    #expect((phone.process != nil) == runs)
  }

  @Test func `H30: does not know an app that is not installed`() throws {
    let phone = try ServicePhone()
    try phone.test.perform("uninstall-app")

    let chain = try #require(phone.launch()?.error)

    #expect(chain.codes == [10002, 4, 4] && chain.deepest.codeName == "NotFound")
    #expect(chain.words.contains(kiosk))
  }

  @Test func `H31: an app that may not be debugged is there for three seconds, and is refused`() throws {
    let phone = try ServicePhone()
    try phone.test.perform("launch-fault", ["kind": "not-debuggable"])

    let chain = try #require(phone.launch()?.error)
    let process = try #require(phone.process)
    #expect(phone.test.clock.awaitSleeper(until: .seconds(3)))
    phone.test.clock.advance(by: .seconds(3))

    #expect(chain.words.contains("failed to get the task for process"))
    #expect(holds { process.end == .signal(9) })
  }

  @Test func `H32: a launch over a running app can end both, once`() throws {
    let phone = try ServicePhone(runs: true)
    try phone.test.perform("launch-fault", ["kind": "collide"])

    let first = phone.launch()
    let gone = phone.process == nil
    let second = phone.launch()

    #expect(first?.error?.deepest.codeName == "Busy" && gone)
    #expect(second?.output != nil)
  }

  @Test func `lists what runs, the kernel's own without a file`() throws {
    let phone = try ServicePhone(runs: true)

    let list = try ProcessList(try #require(phone.reply(.listProcesses)?.output)).processes

    #expect(list.first == ProcessToken(pid: 0, version: 1, auditToken: list.first?.auditToken ?? []))
    #expect(list.contains { $0.path == "/sbin/launchd" && $0.pid == 1 })
    #expect(list.contains { $0.pid == phone.process?.pid && $0.path?.hasSuffix("/Kiosk.app/Kiosk") == true })
  }

  @Test func `stops a process, lets it go on, and ends it`() throws {
    let phone = try ServicePhone(runs: true)
    let process = try #require(phone.process)

    let stop = phone.signal(process.pid, 17)
    let stopped = process.isStopped
    _ = phone.signal(process.pid, 19)
    let runs = !process.isStopped
    _ = phone.signal(process.pid, 9)

    #expect(stop?.output?["signal"] == .int64(17) && stop?.output?["process"]?["processIdentifier"]?.int == process.pid)
    #expect(stopped && runs && process.end == .signal(9))
    #expect(phone.test.events("signal-sent").map { $0.details["signal"] } == [17, 19, 9])
  }

  @Test(arguments: [(1, 9, 1), (4711, 9, 3), (0, 9, 3), (-1, 9, 0), (401, 99, 22)] as [(Int, Int, Int64)])
  func `does not signal what is not an app's, or not there`(pid: Int, signal: Int, code: Int64) throws {
    let phone = try ServicePhone(runs: true)

    let chain = phone.signal(pid, signal)?.error

    #expect(code == 0 ? chain?.domain == "NSCocoaErrorDomain" : chain?.deepest.code == code)
    #expect(phone.process?.end == nil && phone.process != nil)
  }

  @Test func `lists apps before 26, and needs no newer keys for it`() throws {
    let phone = try ServicePhone("18.5")
    let old: XPCValue = [
      "includeAppClips": false, "includeRemovableApps": true, "includeHiddenApps": false,
      "includeInternalApps": false, "includeDefaultApps": false,
    ]

    let apps = try #require(phone.reply(.listApps, old)?.output?.array).map { try AppEntry($0) }

    #expect(apps.map(\.bundle) == [kiosk] && apps.first?.isRemovable == true)
    #expect(try #require(phone.reply(.listApps, AppListInput(builtIn: true).body)?.output?.array).count > 5)
    #expect(phone.reply(.streamApps, StreamInput(wrapping: old).body)?.error?.code == 1001)
  }

  @Test func `answers lists in pieces from 26 on; the plain one takes the service with it until a boot`() throws {
    let phone = try ServicePhone("26.1", runs: true)
    let input = AppListInput(builtIn: true).body
    let channel = UUID()

    let apps = phone.answer(.streamApps, StreamInput(wrapping: input, channel: channel).body)
    let processes = phone.answer(.streamProcesses, StreamInput(channel: channel).body)
    let lacking = phone.reply(.streamApps, StreamInput(wrapping: ["includeAppClips": true], channel: channel).body)

    guard case .stream(let elements, channel) = apps, case .stream(let tokens, channel) = processes else {
      Issue.record("no stream")
      return
    }
    #expect(elements.count > 5 && tokens.count > 9)
    #expect(lacking?.error?.domain == "NSCocoaErrorDomain")
    #expect(phone.answer(.listApps, input) == .silence)
    #expect(phone.answer(.listProcesses) == .silence)
    try phone.test.perform("reboot")
    try phone.test.perform("unlock")
    #expect(phone.reply(.listProcesses)?.output != nil)
  }

  @Test func `from 26 on wants to know about containers`() throws {
    let phone = try ServicePhone("26.1")
    var input = try #require(AppListInput().body.dictionary)
    input["requireContainerAccess"] = nil

    let chain = phone.reply(.streamApps, StreamInput(wrapping: .dictionary(input)).body)?.error

    #expect(chain?.failureReason?.contains("requireContainerAccess") == true)
  }

  @Test(
    arguments: [
      [:], ["CoreDevice.featureIdentifier": true], ["CoreDevice.featureIdentifier": "com.apple.coredevice.feature.no"],
      ["CoreDevice.featureIdentifier": "com.apple.coredevice.feature.launchapplication"],
      ["CoreDevice.featureIdentifier": "com.apple.coredevice.feature.getlockstate"],
      ["CoreDevice.featureIdentifier": "com.apple.coredevice.feature.sendsignaltoprocess", "CoreDevice.input": []],
    ] as [XPCValue])
  func `answers with an error what it does not understand`(body: XPCValue) throws {
    let phone = try ServicePhone()

    guard case .reply(.error(let chain)) = AppFeatures().answer(body, on: phone.test.phone) else {
      Issue.record("no error")
      return
    }

    #expect([1001, 4865].contains(chain.code))
  }
}

@Suite struct `deviceinfo and the screen` {
  @Test func `tell the lock before 26, and whether the passcode was entered since boot`() throws {
    let phone = try ServicePhone("17.6")
    func lock() throws -> LockStateOutput { try LockStateOutput(try #require(phone.reply(.lockState)?.output)) }

    let open = try lock()
    try phone.test.perform("lock")
    let locked = try lock()
    try phone.test.perform("reboot")

    #expect(open == LockStateOutput(passcodeRequired: false, unlockedSinceBoot: true))
    #expect(locked == LockStateOutput(passcodeRequired: true, unlockedSinceBoot: true))
    #expect(try lock() == LockStateOutput(passcodeRequired: true, unlockedSinceBoot: false))
  }

  @Test func `say from 26 on that the lock is not implemented`() throws {
    let phone = try ServicePhone("26.1")

    let chain = try #require(phone.reply(.lockState)?.error)

    #expect(chain.domain == "CoreDevice.ActionError" && chain.code == 2)
    #expect(chain.description?.contains("is not implemented") == true)
    try phone.test.perform("coredevice-as", ["lock": "yes"])
    #expect(phone.reply(.lockState)?.output != nil)
  }

  @Test func `tell the phone and its display`() throws {
    let phone = try ServicePhone("26.1")

    #expect(phone.reply(.deviceInfo)?.output?["udid"]?.string == phone.test.phone.udid.description)
    let display = phone.reply(.displayInfo)?.output?["displays"]?.array?.first
    #expect(display?["nativeSize"]?.array?.compactMap(\.int) == [1179, 2556])
    #expect(phone.reply(.displayInfo)?.output?["backlightState"] == "activeOn")
  }

  @Test func `give a picture of what the screen shows`() throws {
    let phone = try ServicePhone("26.1", runs: true)
    try phone.test.perform("screen", ["scale": "8"])

    let picture = try ScreenshotOutput(
      try #require(phone.reply(.captureScreenshot, ScreenshotInput().body)?.output))

    #expect(picture.format == "png" && picture.display == "1")
    #expect(picture.image == phone.test.phone.screen(scale: 8).picture.png)
    #expect(phone.test.events("screenshot-taken").first?.details["shows"] == "kiosk")
    #expect(phone.reply(.captureScreenshot, ScreenshotInput(display: "9").body)?.error?.code == 1)
  }

  @Test(arguments: ["silent", "close", "refused", "empty", "garbage", "cut"])
  func `can give none`(fault: String) throws {
    let phone = try ServicePhone("26.1")
    try phone.test.perform("screen", ["scale": "8", "fault": fault])

    switch phone.answer(.captureScreenshot, ScreenshotInput().body) {
    case .silence: #expect(fault == "silent")
    case .close: #expect(fault == "close")
    case .reply(.error(let chain)): #expect(fault == "refused" && chain.code == 3)
    case .reply(.output(let output)):
      #expect(try ScreenshotOutput(output).image.starts(with: [0x89, 0x50]) == (fault == "cut"))
    case .stream: Issue.record("a stream")
    }
  }
}
