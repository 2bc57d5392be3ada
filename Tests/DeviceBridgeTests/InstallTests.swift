import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite struct `installing a build` {
  @Test(arguments: ["15.8", "17.6", "26.1"])
  func `replaces the old one, tells of both, and leaves no package behind`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let package = try Package()
    let lane = try await bench.lane()
    let steps = Guarded<[Progress]>([])

    let outcome = try await lane.install(ipa: package.path, by: .patient) { step in steps.with { $0.append(step) } }

    guard case .installed(let change?) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(change.bundle == "com.example.kiosk")
    #expect(change.text == "3.2.0 (412) → 3.3.0 (500)")
    #expect(outcome.sentence(lane.udid).contains("3.2.0 (412) → 3.3.0 (500)"))
    #expect(try await lane.app("com.example.kiosk", by: .patient)?.build == "500")
    let seen = steps.with { $0 }
    #expect(seen.contains { if case .sent(let bytes, let all) = $0 { bytes == all } else { false } })
    #expect(seen.contains(.working("InstallingApplication", percent: 60)))
    let deeds = bench.fleet.journal.entries().filter {
      $0.event == "afc" && $0.details["path"]?.string?.contains("fleetctl.ipa") == true
    }
    #expect(deeds.last?.details["operation"] == "RemovePath")
  }

  @Test func `puts an app where there was none`() async throws {
    let bench = try Bench("16.7")
    try bench.do("uninstall-app")
    let package = try Package()

    let outcome = try await bench.lane().install(ipa: package.path, by: .patient)

    guard case .installed(let change?) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(change.old == nil)
    #expect(change.text == "3.3.0 (500)")
  }

  @Test func `of the same build is seen as well`() async throws {
    let bench = try Bench("16.7")
    let package = try Package(version: "3.2.0", build: "412")

    let outcome = try await bench.lane().install(ipa: package.path, by: .patient)

    guard case .installed(let change?) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(change.text == "3.2.0 (412) → 3.2.0 (412)")
  }

  @Test(arguments: ["ApplicationVerificationFailed", "DeviceOSVersionTooLow", "InstallProhibited", "SomethingNew"])
  func `is refused in the phone's own words`(_ token: String) async throws {
    let bench = try Bench("16.7")
    try bench.do("install-fault", ["error": token, "text": "No, \u{1B}[31mreally"])
    let package = try Package()
    let lane = try await bench.lane()

    let outcome = try await lane.install(ipa: package.path, by: .patient)

    #expect(outcome == .refused(token: token, detail: "No, \u{FFFD}[31mreally"))
    #expect(outcome.sentence(lane.udid).contains(token))
    #expect(try await lane.app("com.example.kiosk", by: .patient)?.build == "412")
  }

  @Test func `that hangs ends at the deadline, and that is lost ends at once`() async throws {
    let bench = try Bench("16.7")
    let package = try Package()
    let lane = try await bench.lane()
    try bench.do("install-fault", ["kind": "hang"])
    let start = ContinuousClock.now
    let hung = await #expect(throws: PhoneError.self) {
      try await lane.install(ipa: package.path, by: .after(.seconds(3)))
    }
    let took = ContinuousClock.now - start
    try bench.do("install-fault", ["kind": "lost"])

    let lost = await #expect(throws: PhoneError.self) { try await lane.install(ipa: package.path, by: .patient) }

    #expect(took < .seconds(8))
    if case .silent = hung {} else { Issue.record("\(String(describing: hung))") }
    if case .lost = lost {} else { Issue.record("\(String(describing: lost))") }
  }

  @Test func `begins only with a package`() async throws {
    let bench = try Bench("16.7")
    let text = try Package(bytes: Array("not a package".utf8))
    let lane = try await bench.lane()

    for path in [text.path, "/nonexistent.ipa", "/tmp", "/dev/zero"] {
      let error = await #expect(throws: PhoneError.self) { try await lane.install(ipa: path, by: .patient) }
      if case .badRequest(let detail) = error { #expect(detail.contains(path)) } else { Issue.record("\(path)") }
    }
    #expect(bench.count("install-requested") == 0)
  }
}
