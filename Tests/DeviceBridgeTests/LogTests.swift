@testable import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

extension PhoneLog {
  /// The next line that holds the text.
  fileprivate func line(with text: String) async throws(PhoneError) -> LogRecord? {
    for try await record in self where record.text.contains(text) { return record }
    return nil
  }

  /// The next line that holds the text, which is said until it is heard: only what is written from now on comes, and when
  /// that begins is the phone's affair.
  fileprivate func line(with text: String, _ say: () -> Void) async throws -> LogRecord? {
    let isHeard = Latch()
    let reader = Task {
      defer { isHeard.open() }
      return try await line(with: text)
    }
    _ = await eventually {
      say()
      return isHeard.wait(until: .after(.zero))
    }
    reader.cancel()
    return try await reader.value
  }
}

@Suite struct `the log of a phone` {
  @Test(arguments: ["15.8", "26.1"])
  func `comes line by line with the program that wrote it`(_ ios: String) async throws {
    let bench = try Bench(ios)
    let lane = try await bench.lane()
    let log = try await lane.log(openedBy: .patient)

    let record = try await log.line(with: "the ") {
      try? bench.do("log", ["text": "the \u{1B}[31mline", "process": "backboardd"])
    }

    #expect(record?.process == "backboardd")
    #expect(record?.text.contains("\u{1B}[31mline") == true)
    // The lane's calls need not wait for it.
    #expect(await lane.facts(by: .patient).error == nil)
    log.stop()
    #expect(try await log.line(with: "nothing") == nil)
  }

  @Test func `ends with an error when the phone leaves`() async throws {
    let bench = try Bench("17.6")
    let lane = try await bench.lane()
    let log = try await lane.log(openedBy: .patient)

    try bench.do("detach")

    await #expect(throws: PhoneError.absent(lane.udid)) { _ = try await log.line(with: "nothing") }
  }

  @Test func `ends without one when its reader is cancelled, and with the lane`() async throws {
    let bench = try Bench("17.6")
    let lane = try await bench.lane()
    let (first, second) = (try await lane.log(openedBy: .patient), try await lane.log(openedBy: .patient))
    let reader = Task { try await first.line(with: "nothing") }
    let other = Task { () -> PhoneError? in
      do throws(PhoneError) {
        _ = try await second.line(with: "nothing")
        return nil
      } catch {
        return error
      }
    }

    reader.cancel()
    #expect(try await reader.value == nil)
    lane.close()

    #expect(await other.value == .ended(lane.udid))
  }

  @Test func `is not opened where there is no trust, nor after the deadline`() async throws {
    let bench = try Bench("17.6", "17.6", trusted: false)
    let stranger = try await bench.lane(1)
    try bench.do("trust", on: 2, ["mode": "now"])
    try bench.do("service-fault", on: 2, ["service": "com.apple.syslog_relay", "kind": "tls-hang"])
    let hung = try await bench.lane(2)

    await #expect(throws: PhoneError.untrusted(stranger.udid, .untrusted)) {
      try await stranger.log(openedBy: .patient)
    }
    let error = await #expect(throws: PhoneError.self) { try await hung.log(openedBy: .after(.seconds(2))) }

    if case .silent = error {} else { Issue.record("\(String(describing: error))") }
  }

  @Test func `leaves no thread and no descriptor behind, read or not`() async {
    await #expect(processExitsWith: .success) {
      let bench = try Bench("17.6")
      let lane = try await bench.lane()
      _ = await lane.facts(by: .patient)
      try await lane.log(openedBy: .patient).stop()
      await Resources.settle()
      let (threads, descriptors) = (Resources.threads, Resources.descriptors)

      for round in 0..<10 {
        let log = try await lane.log(openedBy: .patient)
        // Far more than waits for a reader.
        let flood: () -> Void = { try? bench.do("log", ["text": "flood", "count": "600"]) }
        flood()
        if round.isMultiple(of: 2) { #expect(try await log.line(with: "flood", flood) != nil) }
        // Dropped without a word.
      }

      #expect(await eventually { Resources.threads <= threads && Resources.descriptors <= descriptors })
    }
  }
}

@Suite struct `a mailbox` {
  @Test func `holds up who fills it and loses nothing`() async {
    let box = Mailbox<Int>(capacity: 4)
    let put = Guarded(0)
    _ = Worker(name: "writer") {
      for number in 0..<1000 where box.put(number) { put.with { $0 += 1 } }
      box.close(.success(()))
    }
    #expect(await eventually { put.with { $0 } == 4 })
    var taken: [Int] = []

    while case .success(let number?) = await box.take() { taken.append(number) }

    #expect(taken == Array(0..<1000))
    #expect(put.with { $0 } == 1000)
  }

  @Test func `lets go of its writer and of its reader when it is closed`() async {
    let (full, empty) = (Mailbox<Int>(capacity: 1), Mailbox<Int>(capacity: 1))
    let udid = UDID("x")
    #expect(full.put(1))
    let writer = Worker(name: "writer") { _ = full.put(2) }
    let reader = Task { await empty.take() }

    full.close(.success(()))
    empty.close(.failure(.absent(udid)))

    #expect(writer.join(by: .patient))
    #expect(await reader.value == .failure(.absent(udid)))
    #expect(full.put(3) == false)
    #expect(await full.take() == .success(1))
    #expect(await full.take() == .success(nil))
  }
}
