import Glibc

/// The folder that relative paths of the command line begin in.
enum WorkingFolder {
  /// The path as other processes can use it, wherever they are started.
  static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let folder = getcwd(nil, 0) else { return path }
    defer { free(folder) }
    return "\(String(cString: folder))/\(path)"
  }
}
