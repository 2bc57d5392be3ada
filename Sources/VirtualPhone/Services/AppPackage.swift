import Transport
import Wire

/// An app as a host has put it into the media folder: an .ipa, or the app's own folder.
struct AppPackage {
  let info: [String: Plist]
  /// The folder's name, `….app`.
  let folder: String

  /// Why the phone does not take a package: the error's name and its description.
  struct Refusal: Error, Equatable {
    let error: String
    let description: String
  }

  /// Packages are read whole; the media folder holds no larger ones.
  init(at path: String, in media: FileTree) throws(Refusal) {
    let names = (try? media.names(in: path)) ?? []
    if names.isEmpty {
      guard let bytes = media.contents(of: path) else {
        throw Refusal(error: "PackageExtractionFailed", description: "There is nothing at \(path.prefix(256))")
      }
      self = try Self.archived(bytes)
    } else {
      guard let bytes = media.contents(of: "\(path)/Info.plist") else {
        throw Refusal(error: "PackageInspectionFailed", description: "The folder has no Info.plist")
      }
      let folder = path.split(separator: "/").last.map(String.init) ?? "App.app"
      self = AppPackage(info: try Self.info(bytes), folder: folder)
    }
  }

  private init(info: [String: Plist], folder: String) {
    self.info = info
    self.folder = folder
  }

  private static func archived(_ bytes: [UInt8]) throws(Refusal) -> AppPackage {
    guard let archive = ZipArchive(bytes) else {
      throw Refusal(error: "PackageExtractionFailed", description: "The package is no zip archive")
    }
    let wanted = archive.entries.lazy.compactMap { entry -> (ZipArchive.Entry, String)? in
      let parts = entry.name.split(separator: "/")
      guard parts.count == 3, parts[0] == "Payload", parts[1].hasSuffix(".app"), parts[2] == "Info.plist" else {
        return nil
      }
      return (entry, String(parts[1]))
    }
    guard let (entry, folder) = wanted.first else {
      throw Refusal(error: "PackageInspectionFailed", description: "The package has no Payload/….app/Info.plist")
    }
    guard let text = archive.contents(of: entry) else {
      throw Refusal(error: "PackageExtractionFailed", description: "The package's Info.plist cannot be unpacked")
    }
    return AppPackage(info: try info(text), folder: folder)
  }

  private static func info(_ bytes: [UInt8]) throws(Refusal) -> [String: Plist] {
    let plist: Plist? = { do throws(PlistError) { return try Plist(parsing: bytes) } catch { return nil } }()
    guard let info = plist?.dictionary else {
      throw Refusal(error: "PackageInspectionFailed", description: "Info.plist is no property list")
    }
    return info
  }

  /// The app that comes of it.
  ///
  /// - Parameters:
  ///   - generation: how often something has been installed: every installation gets a new folder.
  ///   - ios: the phone's version.
  func app(generation: Int, ios: String) throws(Refusal) -> InstalledApp {
    func text(_ key: String) throws(Refusal) -> String {
      guard let text = info[key]?.string, !text.isEmpty, text.utf8.count <= 255 else {
        throw Refusal(error: "MissingAttributeValue", description: "Info.plist has no \(key)")
      }
      return text
    }
    let bundle = try text("CFBundleIdentifier")
    let executable = try text("CFBundleExecutable")
    if let minimum = info["MinimumOSVersion"]?.string,
      Self.numbers(ios).lexicographicallyPrecedes(Self.numbers(minimum))
    {
      throw Refusal(
        error: "DeviceOSVersionTooLow", description: "The app needs iOS \(minimum.prefix(32)), and this is iOS \(ios)")
    }
    var app = InstalledApp(
      bundle: bundle, name: info["CFBundleDisplayName"]?.string ?? info["CFBundleName"]?.string ?? executable,
      executable: executable, version: info["CFBundleShortVersionString"]?.string ?? "",
      build: try text("CFBundleVersion"), kind: .user,
      path:
        "/private/var/containers/Bundle/Application/\(InstalledApp.folderName(for: "\(bundle) \(generation)"))/\(folder)",
      container:
        "/private/var/mobile/Containers/Data/Application/\(InstalledApp.folderName(for: "\(bundle) \(generation) data"))"
    )
    app.info = info
    // What is signed cannot be read here: a build that reaches a lab's phone over the cable is a development build.
    app.info["Entitlements"] = [
      "application-identifier": .string("ABCDE12345.\(bundle)"), "get-task-allow": true,
    ]
    app.info["SignerIdentity"] = "Apple Development: Example (ABCDE12345)"
    app.info["ProfileValidated"] = true
    return app
  }

  /// A version's numbers, without zeros at its end.
  private static func numbers(_ version: String) -> [Int] {
    var numbers = version.split(separator: ".").prefix(4).map { Int($0) ?? 0 }
    while numbers.last == 0 { numbers.removeLast() }
    return numbers
  }
}
