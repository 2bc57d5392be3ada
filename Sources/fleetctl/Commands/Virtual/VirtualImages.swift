import Glibc
import Transport
import VirtualPhone
import Fleet

/// The developer image that virtual phones from iOS 17 on take, as files for `fleetctl mount`.
struct VirtualImages: Sendable {
  /// Only this machine's programs are signed for.
  static let signing = SocketAddress.tcp(host: "127.0.0.1", port: 0)

  private let folder: String

  /// - Returns: nil where --images is not given.
  init?(_ invocation: Invocation) throws(UsageError) {
    guard let text = invocation.value("images") else { return nil }
    guard !text.isEmpty, !text.utf8.contains(0) else {
      throw .badValue(option: "images", value: text, wanted: "a folder", command: invocation.command.name)
    }
    folder = WorkingFolder.absolute(text)
  }

  /// Files of that name are replaced.
  func write() throws(Complaint) {
    let place = "\(folder)/personalized"
    for path in [folder, place] where mkdir(path, 0o755) != 0 && errno != EEXIST { throw complaint(path, errno) }
    for (name, bytes) in LabImage().files {
      let path = "\(place)/\(name)"
      let code = Self.write(bytes, to: path)
      if code != 0 { throw complaint(path, code) }
    }
  }

  /// - Returns: an errno, or 0.
  private static func write(_ bytes: [UInt8], to path: String) -> Int32 {
    let fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard fd >= 0 else { return errno }
    defer { close(fd) }
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(fd, $0.baseAddress.map { $0 + written }, $0.count - written) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count < 0 ? errno : ENOSPC }
      written += count
    }
    return 0
  }

  private func complaint(_ path: String, _ code: Int32) -> Complaint {
    Complaint(
      .harness,
      "\(path) could not be written: \(Errno.text(code)). The folder may be another user's, or full. "
        + "Name another one: fleetctl virtual --images FOLDER.")
  }
}
