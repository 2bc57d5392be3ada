import Glibc
import Testing
import Transport
import Wire

@testable import Fleet

/// A process that stores rows one after another, and notes each that it was told is stored.
private enum StoringProcess {
  static func run(_ folder: String, killedAfter microseconds: UInt32) async throws {
    _ = Worker(name: "death") {
      usleep(microseconds)
      kill(getpid(), SIGKILL)
    }
    let path = "\(folder)/fleet.sqlite"
    let notes = open("\(folder)/notes", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    let record = try await Record.open(path).record
    var seq = try await RecordReader(path).past().0.lastSeq
    while true {
      seq += 1
      var entry = TestEntry.entry(seq, at: TestEntry.noon + .seconds(seq))
      entry.action = WatchAction(
        kind: .launch, at: TestEntry.noon + .seconds(seq), udid: TestEntry.hall, result: "\(seq)")
      try await record.store(entry, within: .seconds(20))
      let line = Array("\(seq)\n".utf8)
      _ = write(notes, line, line.count)
    }
  }
}

@Suite(.serialized) struct `a process that is killed while it stores rows` {
  @Test func `loses nothing that was stored, doubles nothing, and leaves no gap`() async throws {
    let test = try TestRecord()
    let folder = test.folder.path
    var generator = SeededRandom(seed: 7)
    var stored = 0
    var slowness: UInt32 = 1
    for round in 0..<25 {
      let life = UInt32.random(in: 500...60_000, using: &generator) * slowness

      await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String, life = life as UInt32] in
        try await StoringProcess.run(folder, killedAfter: life)
      }

      let noted = (Scratch.read("\(folder)/notes") ?? "").split(separator: "\n").compactMap { Int($0) }
      guard RecordFile.size(test.path) ?? 0 > 0, try await isBegun(test) else {
        #expect(noted.isEmpty)
        slowness = min(slowness * 2, 16)
        continue
      }
      let rows = try await test.reader.outcomes(limit: 1_000_000)
      let seqs = rows.compactMap(\.seq)
      let actions = try await test.reader.actions(limit: 1_000_000).compactMap(\.result)
      #expect(seqs == seqs.indices.map { $0 + 1 }, "round \(round)")
      #expect(noted == Array(Set(noted)).sorted() && Set(noted).isSubset(of: seqs), "round \(round)")
      // The row that was on its way may have arrived; what came with it did so too.
      #expect(actions == seqs.map(String.init), "round \(round)")
      if let last = seqs.last {
        #expect(try await test.reader.past().1[TestEntry.hall]?.memory.revision == last, "round \(round)")
      }
      // A machine, or a sanitizer, that leaves it no time to store anything.
      if seqs.count == stored { slowness = min(slowness * 2, 16) }
      stored = seqs.count
    }
    let whole = try RecordOpening(path: test.path).forReading().rows("PRAGMA integrity_check") { $0.text(0) }

    #expect(whole == ["ok"])
    #expect(stored > 10)
  }

  /// Killed before the tables were there, the next one makes them.
  private func isBegun(_ test: TestRecord) async throws -> Bool {
    do {
      _ = try await test.reader.past()
      return true
    } catch RecordTrouble.missing {
      return false
    }
  }
}
