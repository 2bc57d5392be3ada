import Glibc
import Testing

@testable import Transport

@Suite struct `a crew of threads` {
  @Test func `runs each body on a thread of its own, however many wait for each other`() {
    let crew = Crew(name: "crew")
    let everybody = Latch()
    let here = Guarded(0)
    let ended = (0..<20).map { _ in Latch() }
    for end in ended {
      crew.run {
        if here.with({
          $0 += 1
          return $0 == ended.count
        }) {
          everybody.open()
        }
        if everybody.wait(until: .after(.seconds(20))) { end.open() }
      }
    }
    for end in ended { #expect(end.wait(until: .after(.seconds(20)))) }
  }

  @Test func `gives the next body to a thread that waits`() {
    let crew = Crew(name: "crew", patience: .seconds(60))
    defer { crew.dismiss() }
    var threads: Set<UInt> = []
    // A thread sits down a moment after its body: some bodies meet none, but not all.
    for _ in 0..<50 { threads.insert(Self.thread(of: crew)) }
    #expect(threads.count < 25)
  }

  @Test func `lets go of what a body holds when the body ends`() async {
    final class Held: Sendable {}
    let crew = Crew(name: "crew", patience: .seconds(60))
    defer { crew.dismiss() }
    var held: Held? = Held()
    weak let seen = held
    let ended = Latch()
    crew.run { [held] in withExtendedLifetime(held) { ended.open() } }
    held = nil
    #expect(ended.wait(until: .after(.seconds(20))))
    #expect(await eventually { seen == nil })
  }

  @Test func `ends the threads that nobody needs, and those of a dismissed crew`() async {
    let name = "crew \(getpid() % 10000)"
    let brief = Crew(name: name, patience: .milliseconds(1))
    let patient = Crew(name: name, patience: .seconds(600))
    for crew in [brief, patient] { _ = Self.thread(of: crew) }
    patient.dismiss()
    #expect(await eventually { Self.threads(named: name) == 0 })
  }

  private static func thread(of crew: Crew) -> UInt {
    let number = Guarded<UInt>(0)
    let ended = Latch()
    crew.run {
      number.with { $0 = UInt(pthread_self()) }
      ended.open()
    }
    _ = ended.wait(until: .after(.seconds(20)))
    return number.with { $0 }
  }

  /// How many of this process's threads have the name.
  private static func threads(named name: String) -> Int {
    var count = 0
    guard let folder = opendir("/proc/self/task") else { return -1 }
    defer { closedir(folder) }
    while let entry = readdir(folder) {
      let number = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard let file = fopen("/proc/self/task/\(number)/comm", "r") else { continue }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 32)
      guard fgets(&line, Int32(line.count), file) != nil else { continue }
      if String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map(UInt8.init(bitPattern:)), as: UTF8.self) == name {
        count += 1
      }
    }
    return count
  }

  private func eventually(_ condition: () -> Bool) async -> Bool {
    let deadline = Deadline.after(.seconds(20))
    while !condition() {
      if deadline.hasPassed { return false }
      await Task.yield()
    }
    return true
  }
}
