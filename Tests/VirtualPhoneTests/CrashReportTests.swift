import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `the app's crashes` {
  /// The two parts of a report: a line, then the rest.
  private func parts(_ bytes: [UInt8]) throws -> (header: JSON, body: JSON) {
    let end = try #require(bytes.firstIndex(of: 0x0A))
    return (
      try #require(JSON(parsing: Array(bytes[..<end]))), try #require(JSON(parsing: Array(bytes[(end + 1)...])))
    )
  }

  private func reports(_ host: AFCClient) throws -> [String] {
    try #require(try host.names("/")).filter { $0.hasSuffix(".ips") }
  }

  @Test(arguments: [
    ("segfault", "EXC_BAD_ACCESS", "SIGSEGV", "CameraSession.start(for:)", 0),
    ("abort", "EXC_CRASH", "SIGABRT", "__pthread_kill", 1),
    ("trap", "EXC_BREAKPOINT", "SIGTRAP", "_assertionFailure(_:_:file:line:flags:)", 0),
    ("watchdog", "EXC_CRASH", "SIGKILL", "semaphore_wait_trap", 0),
  ])
  func `leave a report that names exception, signal and frame`(
    kind: String, type: String, signal: String, frame: String, thread: Int
  ) throws {
    let phone = try TestPhone()
    let host = try AFCClient(phone, "com.apple.crashreportcopymobile")
    #expect(try reports(host) == [])

    try phone.perform("crash-app", ["kind": kind])

    #expect(phone.app.processes.isEmpty)
    let name = try #require(try reports(host).first)
    #expect(name.hasPrefix("Kiosk-20"))
    let (header, body) = try parts(try #require(try host.get("/\(name)")))
    #expect(header["bug_type"] == "309")
    #expect(header["bundleID"] == "com.example.kiosk")
    #expect(header["app_version"] == "3.2.0")
    #expect(header["build_version"] == "412")
    #expect(body["exception"]?["type"] == .string(type))
    #expect(body["exception"]?["signal"] == .string(signal))
    #expect(body["faultingThread"]?.int == thread)
    let frames = try #require(body["threads"]?.array?[thread]["frames"]?.array)
    #expect(frames.first?["symbol"] == .string(frame))
    #expect(body["threads"]?.array?[thread]["triggered"] == true)
    #expect(body["threads"]?.array?[thread]["threadState"]?["pc"]?["value"] != nil)
    #expect(body["pid"]?.int ?? 0 > 400)
    #expect(body["modelCode"] == "iPhone12,1")
  }

  @Test func `of a build without symbols are reported by offsets alone`() throws {
    let phone = try TestPhone()
    let host = try AFCClient(phone, "com.apple.crashreportcopymobile")

    try phone.perform("crash-app", ["symbols": "no"])

    let name = try #require(try reports(host).first)
    let (_, body) = try parts(try #require(try host.get("/\(name)")))
    let frame = try #require(body["threads"]?.array?[0]["frames"]?.array?.first)
    #expect(frame["symbol"] == nil)
    #expect(frame["imageOffset"]?.int ?? 0 > 0)
  }

  @Test func `for want of memory wait for the mover`() throws {
    let phone = try TestPhone()
    let host = try AFCClient(phone, "com.apple.crashreportcopymobile")
    try phone.perform("crash-app", ["kind": "memory"])
    let before = try reports(host)
    let mover = try phone.service("com.apple.crashreportmover")

    let ping = try mover.socket.read(exactly: 5, by: .after(.seconds(10)))
    mover.socket.close()

    #expect(before == [])
    #expect(ping == Array("ping".utf8) + [0])
    #expect(mover.worker.join(by: .after(.seconds(10))))
    let name = try #require(try reports(host).first)
    #expect(name.hasPrefix("JetsamEvent-"))
    let (header, body) = try parts(try #require(try host.get("/\(name)")))
    #expect(header["bug_type"] == "298")
    #expect(body["largestProcess"] == "Kiosk")
  }

  @Test func `of earlier days lie there with their dates, and each has a name of its own`() throws {
    let phone = try TestPhone()
    let host = try AFCClient(phone, "com.apple.crashreportcopymobile")
    try phone.perform("old-crash", ["age": "2h"])
    for _ in 0..<3 {
      try phone.perform("crash-app")
      try phone.perform("launch-app")
    }

    let names = try reports(host)

    #expect(names.count == 4)
    let times = try names.compactMap { try host.facts("/\($0)")?["st_mtime"].flatMap(Int.init) }
    let (oldest, newest) = (try #require(times.min()), try #require(times.max()))
    #expect(newest - oldest >= 7_200_000_000_000)
    #expect(try host.status(8, AFCClient.text("/\(names[0])")) == 0)
    #expect(try reports(host).count == 3)
  }

  @Test func `right after a launch leave a report too`() throws {
    let phone = try TestPhone(runs: false)
    try phone.perform("launch-fault", ["kind": "crash"])
    try phone.perform("launch-app")
    #expect(phone.clock.awaitSleeper(until: .milliseconds(200)))

    phone.clock.advance(by: .milliseconds(200))

    #expect(holds { phone.app.processes.isEmpty })
    #expect(try reports(try AFCClient(phone, "com.apple.crashreportcopymobile")).count == 1)
    #expect(phone.events("app-crashed").first?.details["kind"] == "segfault")
  }

  @Test func `need a running app`() throws {
    let phone = try TestPhone(runs: false)

    #expect(throws: ActionError.self) { try phone.perform("crash-app") }
    #expect(throws: ActionError.self) { try phone.perform("old-crash", ["app": "com.nobody"]) }
  }
}
