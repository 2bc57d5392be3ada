import Testing
import Transport
import Wire

@testable import Fleet

/// A record in a folder of its own.
struct TestRecord {
  let folder: Scratch
  var path: String { "\(folder.path)/fleet.sqlite" }
  var reader: RecordReader { RecordReader(path) }

  init() throws { folder = try Scratch() }

  func open() async throws -> Record { try await Record.open(path).record }

  static func run(_ at: String = "2026-11-30T12:00:00.000Z", label: String? = nil, virtual: Bool = false) -> RunRow {
    RunRow(startedAt: at, version: "1.0", label: label, isVirtual: virtual, meta: ["BUILD_URL": "https://ci/1"])
  }

  static func verdict(
    _ run: Int, _ verdict: Verdict, body: String? = "hall", udid: String = "00008110-000A1B2C3D4E5F60"
  )
    -> VerdictRow
  {
    VerdictRow(
      run: run, body: body, udid: UDID(udid), scenario: "camera-busy", file: "scenarios/camera-busy.yaml", line: 11,
      attempt: 2, verdict: verdict, at: "2026-11-30T12:00:05.250Z", seconds: 4.2, recoverySeconds: 0.64,
      message: "expected status 423; came status 200")
  }
}

@Suite struct `runs in the record` {
  static let keep = Duration.seconds(400 * 86_400)
  static let limit = Duration.seconds(20)

  @Test func `are read back as they were written`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    let scenario = RunScenarioRow(scenario: "camera-busy", file: "scenarios/camera-busy.yaml", hash: "abc")
    let body = RunBodyRow(
      body: "hall", udid: UDID("00008110-000A1B2C3D4E5F60"), model: "iPhone12,1", ios: "16.7",
      bundle: "com.example.kiosk", version: "3.2.0", build: "412", usbPort: "1-2.3")

    let number = try await record.begin(TestRecord.run(label: "nightly"), keep: Self.keep, within: Self.limit)
    record.describe(number, scenarios: [scenario], bodies: [body, RunBodyRow(body: nil, udid: UDID("x"))])
    record.add(TestRecord.verdict(number, .failed))
    record.finish(number, at: "2026-11-30T12:01:00.000Z", seconds: 60, exit: 1)
    try await record.settle(within: Self.limit)

    var expected = TestRecord.run(label: "nightly")
    expected.number = 1
    expected.finishedAt = "2026-11-30T12:01:00.000Z"
    (expected.seconds, expected.exit) = (60, 1)
    expected.scenarios = [scenario]
    expected.bodies = [body, RunBodyRow(body: nil, udid: UDID("x"))]
    #expect(number == 1)
    #expect(try await test.reader.run(1) == expected)
    #expect(try await test.reader.verdicts(of: 1) == [TestRecord.verdict(1, .failed)])
    #expect(try await test.reader.run(2) == nil)
  }

  @Test func `have numbers that no other run has had, also from writers side by side`() async throws {
    let test = try TestRecord()
    let records = [try await test.open(), try await test.open()]

    let numbers = try await withThrowingTaskGroup(of: Int.self) { group in
      for turn in 0..<40 {
        group.addTask {
          try await records[turn % 2].begin(TestRecord.run(), keep: Self.keep, within: Self.limit)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }

    #expect(numbers.sorted() == Array(1...40))
  }

  @Test func `are listed the newest first, by label, by kind and before a number`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    for (label, isVirtual) in [("a", false), ("b", true), (nil, false), ("a", true)] as [(String?, Bool)] {
      let row = TestRecord.run(label: label, virtual: isVirtual)
      _ = try await record.begin(row, keep: Self.keep, within: Self.limit)
    }
    func numbers(_ filter: RecordReader.RunFilter) async throws -> [Int] {
      try await test.reader.runs(filter).map(\.number)
    }

    #expect(try await numbers(.init()) == [4, 3, 2, 1])
    #expect(try await numbers(.init(count: 2)) == [4, 3])
    #expect(try await numbers(.init(label: "a")) == [4, 1])
    #expect(try await numbers(.init(isVirtual: false)) == [3, 1])
    #expect(try await numbers(.init(before: 3)) == [2, 1])
    #expect(try await numbers(.init(label: "a' OR 1=1 --")) == [])
  }

  @Test
  func `in which nothing came to a verdict are passed over where that matters, and taken back where nothing began`()
    async throws
  {
    let test = try TestRecord()
    let record = try await test.open()
    for _ in 0..<3 { _ = try await record.begin(TestRecord.run(), keep: Self.keep, within: Self.limit) }
    record.add(TestRecord.verdict(2, .passed))

    record.forget(3)
    let next = try await record.begin(TestRecord.run(), keep: Self.keep, within: Self.limit)

    #expect(next == 4)
    #expect(try await test.reader.runs(.init(hasVerdicts: true)).map(\.number) == [2])
    #expect(try await test.reader.runs().map(\.number) == [4, 2, 1])
  }

  @Test func `tell the last verdicts of one scenario on one body, by its name or its phone`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    for verdict in [Verdict.passed, .failed] {
      let number = try await record.begin(TestRecord.run(), keep: Self.keep, within: Self.limit)
      record.add(TestRecord.verdict(number, verdict))
      record.add(TestRecord.verdict(number, .skipped, body: nil, udid: "00008101-000A1B2C3D4E001E"))
    }
    try await record.settle(within: Self.limit)
    func words(_ body: String, _ count: Int = 10) async throws -> [Verdict] {
      try await test.reader.verdicts(of: "camera-busy", on: body, count: count).map(\.verdict)
    }

    #expect(try await words("hall") == [.failed, .passed])
    #expect(try await words("hall", 1) == [.failed])
    #expect(try await words("00008101000a1b2c3d4e001e") == [.skipped, .skipped])
    #expect(try await words("stairs") == [])
  }

  @Test func `are let go of when they are older than the record keeps, but for the newest of each label`() async throws
  {
    let test = try TestRecord()
    let record = try await test.open()
    let days = ["2025-01-01", "2025-01-02", "2026-11-29"]
    for day in days {
      let number = try await record.begin(
        TestRecord.run("\(day)T00:00:00.000Z"), keep: .seconds(100_000 * 86_400), within: Self.limit)
      record.add(TestRecord.verdict(number, .passed))
    }
    _ = try await record.begin(
      TestRecord.run("2025-01-01T00:00:00.000Z", label: "rare"), keep: .seconds(100_000 * 86_400), within: Self.limit)

    let number = try await record.begin(
      TestRecord.run("2026-11-30T00:00:00.000Z"), keep: .seconds(30 * 86_400), within: Self.limit)

    #expect(number == 5)
    #expect(try await test.reader.runs().map(\.number) == [5, 4, 3])
    #expect(try await test.reader.verdicts(of: 1).isEmpty)
    #expect(try await test.reader.verdicts(of: 3).count == 1)
  }

  @Test func `keep texts of any kind`() async throws {
    let test = try TestRecord()
    let record = try await test.open()
    var row = TestRecord.verdict(1, .failed)
    row.message = "null \u{0} bell \u{7} '; DROP TABLE runs; -- 日本 \u{FFFE}"
    let number = try await record.begin(TestRecord.run(), keep: Self.keep, within: Self.limit)
    #expect(number == 1)

    record.add(row)
    try await record.settle(within: Self.limit)

    #expect(try await test.reader.verdicts(of: 1) == [row])
  }
}

@Suite struct `the wall clock's texts` {
  @Test(arguments: ["2026-12-20T08:30:00.250Z", "1970-01-01T00:00:00.000Z", "2024-02-29T23:59:59.999Z"])
  func `are read back`(_ text: String) throws {
    let moment: Duration = try #require(WallClock.moment(text))
    #expect(WallClock.rfc3339(moment) == text)
  }

  @Test(arguments: [
    "", "2026-12-20", "2026-12-20T08:30:00", "2026-12-20T08:30:00.Z", "2026-12-20T08:30:0xZ", "2026-12-20 08:30:00Z",
  ])
  func `of another form are none`(_ text: String) {
    #expect(WallClock.moment(text) == nil)
  }
}
