import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

private let kiosk = "com.example.kiosk"

@Suite struct `the app's files` {
  @Test func `are listed with kind and size, and a clip is there while it is recorded`() async throws {
    let bench = try Bench("17.6")
    let lane = try await bench.lane()
    let before = try await lane.files(in: "tmp", of: kiosk, by: .patient)
    var during: [AppFile] = []
    let deadline = Deadline.patient
    // On a busy machine a clip may be over before the first look.
    while during.isEmpty, !deadline.hasPassed {
      let isOver = Latch()
      let clip = Task {
        _ = await lane.request(
          DoorRequest(port: 8127, method: "POST", target: "/clip?camera=back&seconds=4", deadline: .patient))
        isOver.open()
      }
      while during.isEmpty, !isOver.wait(until: .after(.zero)) {
        during = try await lane.files(in: "tmp", of: kiosk, by: .patient) ?? []
      }
      await clip.value
    }

    #expect(before == [])
    #expect(during.first?.name.hasPrefix("clip-") == true)
    #expect(during.first?.kind == .file)
    #expect(during.first?.modified != nil)
    #expect(try await lane.files(in: "/tmp/", of: kiosk, by: .patient) == [])
  }

  @Test func `of the container itself are folders, and a folder that is not there is none`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()

    let root = try await lane.files(in: "", of: kiosk, by: .patient)
    let none = try await lane.files(in: "tmp/nothing", of: kiosk, by: .patient)

    #expect(root?.filter { $0.kind == .folder }.map(\.name) == ["Documents", "Library", "SystemData", "tmp"])
    #expect(none == nil)
  }

  @Test func `are kept from us by a build from the store, and by an app that is not there`() async throws {
    let bench = try Bench("16.7")
    try bench.do("install-app", ["signing": "store"])
    let lane = try await bench.lane()

    let store = await #expect(throws: PhoneError.self) { try await lane.files(in: "tmp", of: kiosk, by: .patient) }
    let none = await #expect(throws: PhoneError.self) { try await lane.files(in: "tmp", of: "no.app", by: .patient) }

    if case .launchRefused(_, .notDebuggable, _) = store {} else { Issue.record("\(String(describing: store))") }
    if case .launchRefused(_, .notInstalled, _) = none {} else { Issue.record("\(String(describing: none))") }
  }

  @Test func `are asked for by paths without a NUL only`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()

    await #expect(throws: PhoneError.badRequest(detail: "the path holds a NUL character")) {
      try await lane.files(in: "tmp\0x", of: kiosk, by: .patient)
    }
  }
}
