import DeviceBridge
import Glibc
import Transport
import VirtualPhone

/// A folder of images with the personalised one in it, and a signing server for it.
final class PersonalizedSet: Sendable {
  let path: String
  let signing: SigningServer
  private let image = LabImage()

  init() throws {
    var template = Array("/tmp/images-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Trouble("no folder") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    signing = try SigningServer()
    mkdir("\(path)/personalized", 0o755)
    for (name, bytes) in image.files {
      let fd = open("\(path)/personalized/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      guard fd >= 0 else { throw Trouble("no file: \(Errno.text(errno))") }
      defer { close(fd) }
      guard write(fd, bytes, bytes.count) == bytes.count else { throw Trouble("not written") }
    }
  }

  deinit {
    signing.stop()
    for name in image.files.keys { remove(name) }
    rmdir("\(path)/personalized")
    rmdir(path)
  }

  func remove(_ name: String) { unlink("\(path)/personalized/\(name)") }

  /// The folder, with its own server for signing.
  var folder: ImageFolder { ImageFolder(path: path, signing: SigningService("http://\(signing.address)")) }

  /// The folder for a host that stays off the network.
  var offline: ImageFolder { ImageFolder(path: path) }
}
