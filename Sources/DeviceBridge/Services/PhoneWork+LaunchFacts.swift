import Glibc
import Transport
import Wire

/// What a launch on a phone depends on, in one look; nil where it could not be read.
public struct LaunchConditions: Equatable, Sendable {
  public var ios: String?
  /// nil inside: it is not installed.
  public var app: InstalledApp??
  /// Whether the lookup shows a developer image.
  public var hasImage: Bool?
  public var developerMode: Bool?
  /// This boot of the phone's, by its own name for it.
  public var boot: String?
  /// The image that this host has for the phone: a text that another image does not have.
  public var offeredImage: String?
  public init() {}
}

extension PhoneLane {
  /// Reads what a launch depends on; what keeps it from reading some of it leaves that out.
  ///
  /// - Parameter images: the host's images; nil where none is to be offered.
  public func launchConditions(
    _ bundle: String, images: ImageFolder?, by deadline: Deadline
  ) async -> LaunchConditions {
    (try? await call("reading what a launch depends on", by: deadline) { work throws(PhoneError) in
      work.launchConditions(bundle, images)
    }) ?? LaunchConditions()
  }
}

extension PhoneWork {
  fileprivate func launchConditions(_ bundle: String, _ images: ImageFolder?) -> LaunchConditions {
    var found = LaunchConditions()
    found.ios = (try? value("ProductVersion"))?.flatMap(\.string)
    found.boot = (try? value("BootSessionID"))?.flatMap(\.string).map { PhoneText.clean($0) }
    if let major = found.ios.flatMap(SystemVersion.init)?.numbers[0] {
      found.developerMode = (try? isDeveloperModeOff(major)).map { !$0 }
    }
    if !bundle.isEmpty { found.app = try? app(bundle) }
    found.hasImage = try? developerImage().isMounted
    if found.hasImage == false, let images, let ios = found.ios { found.offeredImage = images.identity(for: ios) }
    return found
  }
}

extension ImageFolder {
  /// A text that tells the image for that iOS from every other, without reading it whole.
  ///
  /// - Returns: nil where there is none.
  func identity(for ios: String) -> String? {
    guard let version = SystemVersion(ios) else { return nil }
    if version.numbers[0] >= 17 { return Self.mark("\(path)/personalized/BuildManifest.plist") }
    return (try? image(for: ios)).flatMap { files in Self.mark(files.image).map { "\(files.version) \($0)" } }
  }

  private static func mark(_ path: String) -> String? {
    var info = stat()
    guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
    return "\(info.st_size) bytes of \(info.st_mtim.tv_sec)"
  }
}
