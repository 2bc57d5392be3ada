import Transport
import Wire

extension InstallationProxy {
  /// The stages of an installation, as phones name them, with the percentage that they begin at.
  private static let stages: [(name: String, percent: Int64)] = [
    ("CreatingStagingDirectory", 5), ("ExtractingPackage", 15), ("InspectingPackage", 20), ("TakingInstallLock", 20),
    ("PreflightingApplication", 30), ("VerifyingApplication", 40), ("CreatingContainer", 50),
    ("InstallingApplication", 60), ("PostflightingApplication", 70), ("SandboxingApplication", 80),
    ("GeneratingApplicationMap", 90),
  ]

  /// The stage in which a phone refuses what is wrong with a package.
  private static let verifying = 6

  /// - Parameter path: in the media folder.
  /// - Returns: whether the connection goes on.
  func install(_ connection: ServiceConnection, _ path: String) -> Bool {
    let phone = connection.phone
    phone.record("install-requested", ["package": .string(String(path.prefix(256)))])
    guard tell(Self.stages.prefix(Self.verifying), connection) else { return false }
    switch phone.rules.with({ $0.installFault }) {
    case .refused(let error, let description): refuseInstall(connection, error, description)
    case .hangs: break
    case .lost: return false
    case nil:
      do throws(AppPackage.Refusal) {
        try installPackage(at: path, connection)
      } catch {
        refuseInstall(connection, error.error, error.description)
      }
    }
    return true
  }

  private func installPackage(at path: String, _ connection: ServiceConnection) throws(AppPackage.Refusal) {
    let phone = connection.phone
    // A copy of the folders' table; their bytes are shared with it.
    let media = phone.files.media.with { $0 }
    let package = try AppPackage(at: path, in: media)
    let app = try package.app(generation: phone.app.nextGeneration, ios: phone.preset.ios)
    guard phone.app.installed(app.bundle)?.kind != .system else {
      throw AppPackage.Refusal(error: "ApplicationVerificationFailed", description: "\(app.bundle) is a system app")
    }
    phone.app.install { _ in app }
    phone.record(
      "app-installed",
      ["build": .string(app.build), "bundle": .string(app.bundle), "version": .string(app.version)])
    guard tell(Self.stages.dropFirst(Self.verifying), connection) else { return }
    connection.send(["Status": "Complete"])
    phone.notifications.post("com.apple.mobile.application_installed")
  }

  private func tell(
    _ stages: ArraySlice<(name: String, percent: Int64)>, _ connection: ServiceConnection
  ) -> Bool {
    stages.allSatisfy {
      connection.send(["PercentComplete": .integer($0.percent), "Status": .string($0.name)])
    }
  }

  private func refuseInstall(_ connection: ServiceConnection, _ error: String, _ description: String) {
    connection.phone.record("install-refused", ["error": .string(error)])
    refuse(connection, error, description, 0xE800_8017)
  }
}
