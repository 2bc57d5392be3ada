import Fleet
import Glibc
import Testing
import Transport
import VirtualPhone
import Wire

/// A history of two phones, told to a supervisor that is killed again and again, or never.
///
/// After each of its events what the supervisor makes of it is waited for, so that grace and spacing have their time
/// after each kill.
private final class ScriptedHistory {
  /// What happens to which phone, and the row that it makes; nil for none.
  private static let script: [(action: String, phone: Int, row: String?)] = [
    ("kill-app", 1, "revived"), ("lock", 2, nil), ("kill-app", 2, "locked/passcode"), ("unlock", 2, "revived"),
    ("detach", 1, "unreachable/detached"), ("attach", 1, "up"), ("kill-app", 2, "revived"),
  ]
  static let scale = 40.0
  static let spacing = Duration.seconds(20)

  let phones: SupervisedPhones
  /// The rows that each phone must have.
  private(set) var expected = [1: ["up"], 2: ["up"]]
  private(set) var kills = 0
  private var child: ChildProcess
  private let count: Int
  private var random: SeededGenerator

  /// - Parameter count: so many kills, at random moments spread over the history.
  init(kills count: Int, seed: UInt64) throws {
    phones = try SupervisedPhones(2, scale: Self.scale)
    phones.configure("", supervise: "every: 4s, grace: 8s, spacing: 20s, settle: 16s, answer-within: 8s")
    self.count = count
    random = SeededGenerator(state: seed)
    child = phones.start("--json")
  }

  func tell() async throws {
    for phone in 1...2 { #expect(await reaches(phone)) }
    for (number, step) in Self.script.enumerated() {
      let launches = launches(step.phone).count
      try phones.fleet.perform(step.action, on: "\(step.phone)")
      let target = count * (number + 1) / Self.script.count
      while kills < target { await killSoon() }
      guard let row = step.row else { continue }
      expected[step.phone]?.append(row)
      let isThere = await reaches(step.phone) || hasLostItsOutcome(step.phone, launches, row)
      #expect(isThere, "\(step.action) on \(step.phone), after \(kills) kills: \(rows(step.phone))")
      guard isThere else { break }
      // A revival is a row of its own once the phone has answered for a spacing.
      if row == "revived" { try await ContinuousClock().sleep(for: Self.spacing / Self.scale + .milliseconds(150)) }
    }
    child.signal(SIGTERM)
    #expect(await child.ending(within: .seconds(3)) == .exited(0))
  }

  private func killSoon() async {
    let wait = Int64.random(in: 20..<600, using: &random)
    try? await ContinuousClock().sleep(for: .milliseconds(wait))
    child.signal(SIGKILL)
    _ = await child.ending()
    kills += 1
    child = phones.start("--json")
  }

  /// Whether the supervisor was killed between a launch and its outcome: the door answers, and no row says revived.
  private func hasLostItsOutcome(_ phone: Int, _ launches: Int, _ row: String) -> Bool {
    guard count > 0, row == "revived", self.launches(phone).count > launches else { return false }
    expected[phone]?.removeLast()
    // Where the outcome from before was another one, the answer is a row.
    if expected[phone]?.last != "up", expected[phone]?.last != "revived" { expected[phone]?.append("up") }
    return holds(phone)
  }

  /// Whether a phone's rows are those that it must have. A kill may make one launch more of an outage; the third launch
  /// within the hour, which all of this is, makes a revival a crash loop.
  func holds(_ phone: Int) -> Bool {
    let (came, expected) = (rows(phone), expected[phone] ?? [])
    let isLoop = kills > 0 && launches(phone).count >= 3
    return came.count == expected.count
      && zip(came, expected).allSatisfy { $0 == $1 || (isLoop && $1 == "revived" && $0 == "revived/crash-looping") }
  }

  private func reaches(_ phone: Int) async -> Bool {
    let limit = Deadline.after(.seconds(5))
    while !limit.hasPassed {
      if holds(phone) { return true }
      // Nothing takes that back.
      try? await ContinuousClock().sleep(for: .milliseconds(25))
    }
    return false
  }

  // MARK: - What came of it

  func all() async throws -> [OutcomeReport] {
    try await RecordReader(phones.folder.file("state/fleet.sqlite")).outcomes()
  }

  /// The words of one phone's rows so far.
  func rows(_ phone: Int) -> [String] {
    let udid = phones.udid(phone)
    let found = Guarded<[String]>([])
    let done = Latch()
    let path = phones.folder.file("state/fleet.sqlite")
    Task.detached {
      let rows = (try? await RecordReader(path).outcomes()) ?? []
      found.with { $0 = rows.filter { $0.udid?.description == udid }.map(\.words.text) }
      done.open()
    }
    _ = done.wait(until: .after(.seconds(5)))
    return found.with { $0 }
  }

  /// When launches reached the phone, in its own time.
  func launches(_ phone: Int) -> [Duration] {
    let udid = phones.fleet.phones[phone - 1].udid
    return phones.fleet.journal.entries().filter { $0.udid == udid && $0.event == "coredevice-launch" }.map {
      .seconds($0.phoneSeconds)
    }
  }
}

/// Reproducible numbers (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}

@Suite(.serialized) struct `a supervisor that is killed at any moment` {
  /// FLEETCTL_CRASHES sets how often; 300 takes some minutes.
  private static let kills = getenv("FLEETCTL_CRASHES").flatMap { Int(String(cString: $0)) } ?? 20

  @Test func `writes what one does that lives on: nothing lost, nothing twice, no launch too soon`() async throws {
    if Self.kills > 20 {
      let undisturbed = try ScriptedHistory(kills: 0, seed: 0)
      try await undisturbed.tell()
    }
    let seed = UInt64.random(in: 0 ... .max)
    let killed = try ScriptedHistory(kills: Self.kills, seed: seed)
    try await killed.tell()
    let came = try await killed.all()

    #expect(killed.kills == Self.kills)
    #expect(came.compactMap(\.seq) == Array(1...came.count), "seed \(seed)")
    for phone in 1...2 {
      #expect(
        killed.holds(phone), "seed \(seed): \(killed.rows(phone)), not \(killed.expected[phone] ?? [])")
      let moments = killed.launches(phone)
      for (next, one) in zip(moments.dropFirst(), moments) {
        #expect(next - one >= ScriptedHistory.spacing - .milliseconds(500), "seed \(seed): \(moments)")
      }
    }
  }
}
