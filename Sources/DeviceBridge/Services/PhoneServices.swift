import Transport
import Wire

// What can be asked of a phone beyond PhoneLink, by subject, so that whoever needs one subject needs no more.
// All calls end by their deadline, take their turn on the phone's lane, and are ended by closing it.

/// Trust between the phone and this host.
public protocol PhonePairing: Sendable {
  /// Asks the phone to trust this host; the only call that ever does. To wait for the person, call it again: it sends
  /// at most one request a second.
  func pair(by deadline: Deadline) async throws(PhoneError) -> PairState
  /// Revokes the trust at both ends; here alone where the phone is gone.
  func unpair(by deadline: Deadline) async throws(PhoneError) -> Unpairing
}

/// The developer image, which iOS 16 and older need for launching, stopping and pictures of the screen.
public protocol PhoneImages: Sendable {
  /// Whether an image is mounted.
  func developerImage(by deadline: Deadline) async throws(PhoneError) -> DeveloperImage
  /// Mounts the image that the folder has for the phone's iOS, which is read anew.
  ///
  /// - Parameters:
  ///   - near: takes the nearest older image of the same major version where the exact one is missing.
  ///   - report: called while the image is sent, on the lane's thread.
  func mount(
    from folder: ImageFolder, near: Bool, by deadline: Deadline, report: @escaping ProgressReport
  ) async throws(PhoneError) -> MountOutcome
  /// Mounts this image, whatever version it is for.
  func mount(
    _ image: ImageFiles, by deadline: Deadline, report: @escaping ProgressReport
  ) async throws(PhoneError) -> MountOutcome
}

/// Installing builds.
public protocol PhoneInstalling: Sendable {
  /// Sends the package to the phone and has it installed, over an older build if there is one.
  ///
  /// - Parameter report: called while it goes on, on the lane's thread.
  func install(
    ipa path: String, by deadline: Deadline, report: @escaping ProgressReport
  ) async throws(PhoneError) -> InstallOutcome
}

/// The files of an app that was built for development.
public protocol PhoneFiles: Sendable {
  /// What lies in a folder of the app's container.
  ///
  /// - Parameter folder: such as `tmp`; empty for the container itself.
  /// - Returns: nil when there is no such folder.
  func files(in folder: String, of bundle: String, by deadline: Deadline) async throws(PhoneError) -> [AppFile]?
}

/// The app's process, on iOS 16 and older.
public protocol PhoneProcesses: Sendable {
  /// Stops the app's process where it stands: its door accepts and never answers.
  ///
  /// - Returns: false when it does not run.
  func suspend(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> Bool
  /// Lets a stopped process go on.
  ///
  /// - Returns: false when it does not run.
  func resume(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> Bool
  /// Ends the app's process, and waits until it is gone.
  ///
  /// - Returns: false when it did not run.
  func kill(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> Bool
}

/// A look at the screen.
public protocol PhoneScreen: Sendable {
  /// A picture of the screen, in memory only.
  func screen(by deadline: Deadline) async throws(PhoneError) -> Picture
}

/// How the phone is, and what it has written down.
public protocol PhoneHealth: Sendable {
  /// Charge and temperature, read at most every ten minutes.
  func power(by deadline: Deadline) async throws(PhoneError) -> PowerReading
  /// The newest crash report of an executable.
  ///
  /// - Parameter age: how old it may be at most, by the phone's own clock; nil for any age.
  func crash(
    of executable: String, within age: Duration?, by deadline: Deadline
  ) async throws(PhoneError) -> CrashReport?
}

/// What the phone tells by itself.
public protocol PhoneNews: Sendable {
  /// The phone's log from now on.
  ///
  /// - Parameter deadline: for the opening; the log itself goes on until it is stopped, or the phone ends it.
  func log(openedBy deadline: Deadline) async throws(PhoneError) -> PhoneLog
  /// Hints that the lock may have changed, until the watch is stopped.
  func lockChanges() -> LockWatch
}

/// How far something has come that takes its time.
public enum Progress: Equatable, Sendable {
  case sent(bytes: Int, of: Int)
  /// The phone's own word for what it does, and percent of it.
  case working(String, percent: Int)
}

public typealias ProgressReport = @Sendable (Progress) -> Void

extension PhoneLane: PhonePairing, PhoneImages, PhoneInstalling, PhoneFiles, PhoneProcesses, PhoneScreen, PhoneHealth,
  PhoneNews
{
  public func pair(by deadline: Deadline) async throws(PhoneError) -> PairState {
    try await call("asking it to trust this host", by: deadline) { work throws(PhoneError) in try work.pair() }
  }

  public func unpair(by deadline: Deadline) async throws(PhoneError) -> Unpairing {
    try await call("revoking its trust", by: deadline) { work throws(PhoneError) in try work.unpair() }
  }

  public func developerImage(by deadline: Deadline) async throws(PhoneError) -> DeveloperImage {
    try await call("looking for its developer image", by: deadline) { work throws(PhoneError) in
      try work.developerImage()
    }
  }

  public func mount(
    from folder: ImageFolder, near: Bool = false, by deadline: Deadline, report: @escaping ProgressReport = { _ in }
  ) async throws(PhoneError) -> MountOutcome {
    try await call("mounting its developer image", by: deadline) { work throws(PhoneError) in
      try work.mount(from: folder, near: near, report)
    }
  }

  public func mount(
    _ image: ImageFiles, by deadline: Deadline, report: @escaping ProgressReport = { _ in }
  ) async throws(PhoneError) -> MountOutcome {
    try await call("mounting its developer image", by: deadline) { work throws(PhoneError) in
      try work.mount(image, report)
    }
  }

  public func install(
    ipa path: String, by deadline: Deadline, report: @escaping ProgressReport = { _ in }
  ) async throws(PhoneError) -> InstallOutcome {
    try await call("installing a build", by: deadline) { work throws(PhoneError) in try work.install(path, report) }
  }

  public func files(
    in folder: String, of bundle: String, by deadline: Deadline
  ) async throws(PhoneError) -> [AppFile]? {
    try await call("listing files of \(bundle)", by: deadline) { work throws(PhoneError) in
      try work.files(in: folder, of: bundle)
    }
  }

  public func suspend(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> Bool {
    try await call("stopping \(bundle)", by: deadline) { work throws(PhoneError) in try work.suspend(bundle) }
  }

  public func resume(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> Bool {
    try await call("continuing \(bundle)", by: deadline) { work throws(PhoneError) in try work.resume(bundle) }
  }

  public func kill(_ bundle: String, by deadline: Deadline) async throws(PhoneError) -> Bool {
    try await call("ending \(bundle)", by: deadline) { work throws(PhoneError) in try work.kill(bundle) }
  }

  public func screen(by deadline: Deadline) async throws(PhoneError) -> Picture {
    try await call("taking a picture of its screen", by: deadline) { work throws(PhoneError) in try work.screen() }
  }

  public func power(by deadline: Deadline) async throws(PhoneError) -> PowerReading {
    try await call("reading its battery", by: deadline) { work throws(PhoneError) in try work.power() }
  }

  public func crash(
    of executable: String, within age: Duration?, by deadline: Deadline
  ) async throws(PhoneError) -> CrashReport? {
    try await call("looking for crash reports", by: deadline) { work throws(PhoneError) in
      try work.crash(of: executable, within: age)
    }
  }
}
