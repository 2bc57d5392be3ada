import Transport

/// Somebody who wants to be called at a time.
protocol Alarmed: AnyObject {
  func alarm()
}

/// Who is to be called when, on a poller's thread. Everybody has one alarm at most.
final class Alarms {
  private var due: [ObjectIdentifier: (at: Deadline, who: any Alarmed)] = [:]
  /// When to look next: no later than the first alarm, perhaps earlier.
  private(set) var next = Deadline.never

  /// Takes the place of an earlier alarm of the same.
  func set(_ who: any Alarmed, at time: Deadline) {
    due[ObjectIdentifier(who)] = (time, who)
    next = min(next, time)
  }

  func cancel(_ who: any Alarmed) { due[ObjectIdentifier(who)] = nil }

  /// Calls those whose time has come.
  func ring() {
    guard next.hasPassed else { return }
    let now = due.values.filter { $0.at.hasPassed }
    for (_, who) in now { due[ObjectIdentifier(who)] = nil }
    next = due.values.lazy.map(\.at).min() ?? .never
    for (_, who) in now { who.alarm() }
  }
}
