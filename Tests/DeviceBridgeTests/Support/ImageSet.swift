import DeviceBridge
import Glibc
import Transport

/// A folder of images with so many bytes each.
final class ImageSet: Sendable {
  let folder: ImageFolder
  private let path: String
  private let versions: [String]

  init(_ versions: String..., bytes: Int = 3 << 20) throws {
    var template = Array("/tmp/images-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Trouble("no folder") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    self.versions = versions
    folder = ImageFolder(path: path)
    for version in versions {
      mkdir("\(path)/\(version)", 0o755)
      try Self.write([UInt8](repeating: 0xD1, count: bytes), "\(path)/\(version)/DeveloperDiskImage.dmg")
      try Self.write([UInt8](repeating: 0x51, count: 128), "\(path)/\(version)/DeveloperDiskImage.dmg.signature")
    }
  }

  deinit {
    for version in versions {
      removeSignature(of: version)
      unlink("\(path)/\(version)/DeveloperDiskImage.dmg")
      rmdir("\(path)/\(version)")
    }
    rmdir(path)
  }

  func removeSignature(of version: String) { unlink("\(path)/\(version)/DeveloperDiskImage.dmg.signature") }

  private static func write(_ bytes: [UInt8], _ path: String) throws {
    let fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard fd >= 0 else { throw Trouble("no file: \(Errno.text(errno))") }
    defer { close(fd) }
    guard Glibc.write(fd, bytes, bytes.count) == bytes.count else { throw Trouble("not written") }
  }
}
