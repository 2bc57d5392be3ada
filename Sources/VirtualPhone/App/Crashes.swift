import Transport
import Wire

/// The app's crashes, and the reports that they leave.
extension KioskApp {
  /// Ends a process as a crash of that kind does, and writes its report.
  ///
  /// - Returns: false when it has ended already.
  @discardableResult
  func crash(_ process: AppProcess, _ kind: CrashReport.Kind, hasSymbols: Bool = true) -> Bool {
    guard process.end == nil, let app = installed(process.bundle) else { return false }
    var report = CrashReport(
      kind: kind, app: app, pid: process.pid, system: surroundings.system, at: .now(), started: process.started)
    report.hasSymbols = hasSymbols
    surroundings.note(
      "app-crashed",
      ["bundle": .string(app.bundle), "kind": .string(kind.rawValue), "pid": .integer(Int64(process.pid))])
    let log = surroundings.log
    switch kind {
    case .segfault, .abort, .trap:
      log.write("ReportCrash", 205, "Formulating fatal 309 report for corpse[\(process.pid)] \(app.executable)")
    case .watchdog:
      log.write("SpringBoard", 34, "[\(app.bundle)] scene-create watchdog transgression", level: .error)
    case .memory:
      log.write("kernel", 0, "memorystatus: killing_top_process pid \(process.pid) [\(app.executable)]", level: .fault)
    }
    // The report is there before anybody can see that the process is gone.
    write(report)
    end(process, .signal(report.signal))
    return true
  }

  /// A report of an app that crashed some time ago.
  func addOldReport(_ kind: CrashReport.Kind, of app: InstalledApp, age: Duration) {
    let at = WallTime(milliseconds: WallTime.now().milliseconds - Int64(age.inSeconds * 1000))
    write(
      CrashReport(
        kind: kind, app: app, pid: 399, system: surroundings.system, at: at,
        started: WallTime(milliseconds: at.milliseconds - 3_600_000)))
  }

  private func write(_ report: CrashReport) {
    let files = surroundings.files
    // The kernel's own reports stand elsewhere until the mover brings them.
    files.addReport(
      files.freeReportName(report.name), report.bytes, at: report.at.milliseconds * 1_000_000,
      waits: report.kind == .memory)
  }

  func crashSoon(_ process: AppProcess) {
    timers.schedule(at: surroundings.clock.now + .milliseconds(200)) { [weak self] in
      self?.crash(process, .segfault)
    }
  }
}
