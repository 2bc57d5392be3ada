import Glibc
import Transport
import Fleet

/// A fresh folder that only this user can enter, for sockets that nobody named.
struct PrivateFolder: Sendable {
  let path: String

  /// Under the user's runtime folder, or else the temporary one.
  init(environment: Environment) throws(Complaint) {
    let places = [environment["XDG_RUNTIME_DIR"], environment["TMPDIR"], "/tmp"].compactMap { $0 }
      // A socket's path has 107 bytes at most: a place that is too deep is passed over.
      .filter { $0.hasPrefix("/") && $0.utf8.count <= 60 }
    var failure: Int32 = 0
    for place in places {
      var template = Array("\(place)/fleetctl-XXXXXX".utf8CString)
      if mkdtemp(&template) != nil {
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        return
      }
      failure = errno
    }
    throw Complaint(
      .harness,
      "No folder for the sockets could be made: \(Errno.text(failure)). "
        + "The temporary folder may be full or not writable. Set TMPDIR to another one and run the command again.")
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// Removes the folder and the named files in it.
  func remove(_ names: [String]) {
    for name in names { unlink(file(name)) }
    rmdir(path)
  }
}
