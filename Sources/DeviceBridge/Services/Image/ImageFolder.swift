import Glibc
import Transport

/// The folder of developer images: `VERSION/DeveloperDiskImage.dmg` with `.dmg.signature` beside it for iOS 16 and older,
/// and the unpacked image of iOS 17 and later under `personalized`.
public struct ImageFolder: Equatable, Sendable {
  public let path: String
  /// Where the image of iOS 17 and later is signed for a phone that has no ticket for it yet; nil stays offline.
  public var signing: SigningService?

  public init(path: String, signing: SigningService? = nil) {
    self.path = path
    self.signing = signing
  }

  /// The versions that have an image, oldest first.
  ///
  /// - Throws: `ImageFolderError.unreadable`.
  public func versions() throws(ImageFolderError) -> [String] {
    guard let folder = opendir(path) else { throw .unreadable(path, code: errno) }
    defer { closedir(folder) }
    var versions: [SystemVersion] = []
    // Far more than there ever were versions.
    while versions.count < 4096, let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if let version = SystemVersion(name), Self.isFile(files(of: name).image) { versions.append(version) }
    }
    return versions.sorted().map(\.text)
  }

  /// The image for a phone with that iOS: the one that has the whole version's name, else that of its first two numbers,
  /// as Apple names them.
  ///
  /// - Parameter near: takes the newest one of the same major version that is not newer than the phone, where the exact
  ///   one is missing.
  public func image(for ios: String, near: Bool = false) throws(ImageFolderError) -> ImageFiles {
    let present = try versions()
    guard let wanted = SystemVersion(ios) else { throw .noMatch(wanted: ios, present: present, folder: path) }
    let versions = present.compactMap(SystemVersion.init)
    let exact = versions.first { $0.text == ios } ?? versions.first { $0.numbers == Array(wanted.numbers.prefix(2)) }
    if let exact { return try whole(files(of: exact.text)) }
    guard near, let nearest = versions.last(where: { $0.numbers[0] == wanted.numbers[0] && $0 < wanted }) else {
      throw .noMatch(wanted: ios, present: present, folder: path)
    }
    var files = files(of: nearest.text)
    files.isExact = false
    return try whole(files)
  }

  private func whole(_ files: ImageFiles) throws(ImageFolderError) -> ImageFiles {
    guard Self.isFile(files.signature) else { throw .noSignature(files.signature) }
    return files
  }

  private func files(of version: String) -> ImageFiles {
    let image = "\(path)/\(version)/DeveloperDiskImage.dmg"
    return ImageFiles(version: version, image: image, signature: image + ".signature")
  }

  static func isFile(_ path: String) -> Bool {
    var info = stat()
    return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
  }
}

/// One image and its signature, as files.
public struct ImageFiles: Equatable, Sendable {
  public var version: String
  public var image: String
  public var signature: String
  /// Made for the phone's iOS, not just near it.
  public var isExact = true

  public init(version: String, image: String, signature: String) {
    self.version = version
    self.image = image
    self.signature = signature
  }
}

/// Why there is no image to mount.
public enum ImageFolderError: Error, Equatable, Sendable {
  case unreadable(String, code: Int32)
  case noMatch(wanted: String, present: [String], folder: String)
  case noSignature(String)
  /// Nothing that can be read as an unpacked image of iOS 17 and later.
  case noPersonalizedImage(String)
  /// The image's manifest does not list the phone's board and chip.
  case notForThisPhone(String, board: UInt64, chip: UInt64)
  case missing(String)

  /// Whether it is about the one image for all phones from iOS 17 on.
  var isPersonalized: Bool {
    switch self {
    case .noPersonalizedImage, .notForThisPhone, .missing: true
    case .unreadable, .noMatch, .noSignature: false
    }
  }

  /// What is missing, as a clause: the versions wanted and present are in it.
  public var clause: String {
    switch self {
    case .unreadable(let path, let code): "the folder of images \(path) can't be read: \(Errno.text(code))"
    case .noMatch(let wanted, let present, let folder):
      "there is no image for iOS \(PhoneText.clean(wanted)) in \(folder); "
        + (present.isEmpty ? "it holds none" : "it holds \(present.joined(separator: ", "))")
    case .noSignature(let path): "the image's signature \(path) is missing"
    case .noPersonalizedImage(let folder): "no BuildManifest.plist can be read in \(folder)"
    case .notForThisPhone(let folder, let board, let chip):
      "the image in \(folder) is not for this model (board \(board), chip 0x\(String(chip, radix: 16)))"
    case .missing(let path): "the file \(path) is missing"
    }
  }
}

/// A version of iOS, ordered by its numbers.
struct SystemVersion: Equatable, Comparable, Sendable {
  let text: String
  /// At least two; zeros at the end do not count beyond them.
  let numbers: [Int]

  /// - Returns: nil for anything but numbers with dots between.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...4).contains(parts.count), parts.allSatisfy({ (1...4).contains($0.utf8.count) }) else { return nil }
    var numbers = parts.compactMap { $0.allSatisfy(\.isASCII) ? Int($0) : nil }
    guard numbers.count == parts.count, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
    while numbers.count < 2 { numbers.append(0) }
    while numbers.count > 2, numbers.last == 0 { numbers.removeLast() }
    self.text = text
    self.numbers = numbers
  }

  var major: Int { numbers[0] }
  /// Whether iOS of that version lets hosts into its tunnel over the cable: from 17.4 on.
  var hasTunnel: Bool { !numbers.lexicographicallyPrecedes([17, 4]) }

  static func < (left: Self, right: Self) -> Bool { left.numbers.lexicographicallyPrecedes(right.numbers) }
}
