@testable import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

private let kiosk = "com.example.kiosk"

/// A kind of call, and what is to be so before it.
private enum Call: CaseIterable, Sendable {
  case facts, lock, app, isRunning, launch, port, hello, pair, unpair, image, mount, install, files, suspend
  case resume, kill, screen, power, crash, log

  static let limit = Duration.seconds(20)

  func arrange(_ bench: Bench) throws {
    try bench.do("trust", ["mode": "now"])
    try bench.do("unlock")
    try bench.do(self == .mount ? "unmount" : "mount")
    switch self {
    case .pair: try bench.do("untrust")
    case .hello, .suspend, .resume, .kill, .isRunning: try bench.do("launch-app")
    default: break
    }
  }

  /// - Returns: how it failed; nil when it did not.
  func run(_ lane: PhoneLane, _ images: ImageFolder, _ package: String) async -> PhoneError? {
    let deadline = Deadline.after(Self.limit)
    do throws(PhoneError) {
      switch self {
      case .facts: return await lane.facts(by: deadline).error
      case .lock: _ = await lane.lock(by: deadline)
      case .app: _ = try await lane.app(kiosk, by: deadline)
      case .isRunning: _ = try await lane.isRunning(executable: "Kiosk", by: deadline)
      case .launch: try await lane.launch(LaunchRequest(bundle: kiosk), by: deadline)
      case .port: try await lane.connect(port: 8127, by: deadline).close()
      case .hello:
        let request = DoorRequest(port: 8127, method: "GET", target: "/hello", deadline: deadline)
        if case .unreachable(let error) = await lane.request(request).ending { return error }
      case .pair: _ = try await lane.pair(by: deadline)
      case .unpair: _ = try await lane.unpair(by: deadline)
      case .image: _ = try await lane.developerImage(by: deadline)
      case .mount: _ = try await lane.mount(from: images, by: deadline)
      case .install: _ = try await lane.install(ipa: package, by: deadline)
      case .files: _ = try await lane.files(in: "tmp", of: kiosk, by: deadline)
      case .suspend: _ = try await lane.suspend(kiosk, by: deadline)
      case .resume: _ = try await lane.resume(kiosk, by: deadline)
      case .kill: _ = try await lane.kill(kiosk, by: deadline)
      case .screen: _ = try await lane.screen(by: deadline)
      case .power: _ = try await lane.power(by: deadline)
      case .crash: _ = try await lane.crash(of: "Kiosk", within: nil, by: deadline)
      case .log: for try await _ in try await lane.log(openedBy: deadline) {}
      }
      return nil
    } catch {
      return error
    }
  }

  /// Whether a phone that leaves may be told so.
  static func isFitting(_ error: PhoneError) -> Bool {
    switch error {
    // Gone, or gone in the middle of a step.
    case .absent, .lost: true
    // A service that this phone does not have, or not now: said before it left.
    case .lockdown, .launchRefused(_, .noDeveloperImage, _), .launchRefused(_, .appExited, _): true
    default: false
    }
  }
}

@Suite(.serialized) struct `a phone that leaves at a random moment` {
  @Test func `ends each kind of call by its deadline with a fitting error, and leaves nothing behind`() async {
    await #expect(processExitsWith: .success) {
      let rounds = Rounds.number
      let bench = try Bench("16.7")
      let images = try ImageSet("16.7", bytes: 2 << 20)
      let package = try Package()
      var random = Seeded(state: 0x5EED)
      // Once whole: how long each takes here, and what threads and descriptors there are afterwards.
      var times: [Call: Duration] = [:]
      for call in Call.allCases where call != .log {
        try call.arrange(bench)
        let lane = try await bench.lane()
        let start = ContinuousClock.now
        _ = await call.run(lane, images.folder, package.path)
        times[call] = ContinuousClock.now - start
        lane.close()
      }
      try bench.do("trust", ["mode": "now"])
      let watcher = try await bench.lane()
      let watch = watcher.lockChanges()
      await Resources.settle()
      let (threads, descriptors, before) = (Resources.threads, Resources.descriptors, Resources.listing)
      var kept = try await bench.lane()
      var failed = 0

      for round in 0..<rounds {
        let call = Call.allCases[round % Call.allCases.count]
        try call.arrange(bench)
        // Half of them over a session that stands already.
        let isKept = Bool.random(using: &random)
        if isKept { _ = await kept.lock(by: .patient) }
        let lane = isKept ? kept : try await bench.lane()
        let time = times[call] ?? .milliseconds(50)
        let wait = time * Double.random(in: 0...1.1, using: &random)
        let start = ContinuousClock.now
        let running = Task { await call.run(lane, images.folder, package.path) }
        _ = Worker(name: "cable") {
          _ = Latch().wait(until: .after(wait))
          try? bench.do("detach")
        }

        let error = await running.value

        let took = ContinuousClock.now - start
        #expect(took < Call.limit + .seconds(5), "round \(round), \(call)")
        if error != nil { failed += 1 }
        if let error { #expect(Call.isFitting(error), "round \(round), \(call) after \(wait): \(error)") }
        #expect(await eventually { bench.fleet.phones[0].state.with { !$0.attached } }, "round \(round), \(call)")
        try bench.do("attach")
        if !isKept { lane.close() }
        // A lane that has met a fault works on.
        if isKept, round % 7 == 0 {
          kept.close()
          kept = try await bench.lane()
        }
      }

      // Some were done before, on a machine that was busier when the times were taken; that none meets it is no test.
      #expect(failed > rounds / 4, "\(failed) of \(rounds)")
      kept.close()
      let isClean = await eventually { Resources.threads <= threads && Resources.descriptors <= descriptors }
      #expect(isClean, "before: \(before); after: \(Resources.listing)")
      watch.stop()
      watcher.close()
    }
  }
}

/// A stream of numbers that is the same in each run.
private struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
