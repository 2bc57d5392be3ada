import Fleet
import Glibc
import Transport

/// The scenario files in a folder.
enum ScenarioFolder {
  private static let depthLimit = 16
  private static let fileLimit = 10_000

  /// - Returns: the path itself where it is no folder; of a folder every `.yaml` and `.yml` file in it and below, in
  ///   alphabetical order. Hidden files and links to folders are passed over.
  /// - Throws: a folder that cannot be read, or has no such file in it.
  static func files(at path: String) throws(Problem) -> [String] {
    guard kind(of: path, following: true) == .folder else { return [path] }
    var files: [String] = []
    let root = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    try collect(root, depth: 0, into: &files)
    if files.isEmpty { throw Problem(file: path, sentence: "holds no scenario files; they are called NAME.yaml") }
    return files
  }

  private enum Kind { case folder, other, absent }

  private static func kind(of path: String, following: Bool) -> Kind {
    var info = stat()
    guard (following ? stat(path, &info) : lstat(path, &info)) == 0 else { return .absent }
    return info.st_mode & S_IFMT == S_IFDIR ? .folder : .other
  }

  private static func collect(_ folder: String, depth: Int, into files: inout [String]) throws(Problem) {
    guard depth < depthLimit else { throw Problem(file: folder, sentence: "is more than \(depthLimit) folders deep") }
    for name in try names(in: folder) where !name.hasPrefix(".") {
      let path = "\(folder)/\(name)"
      if kind(of: path, following: false) == .folder {
        try collect(path, depth: depth + 1, into: &files)
      } else if name.hasSuffix(".yaml") || name.hasSuffix(".yml") {
        files.append(path)
        guard files.count <= fileLimit else {
          throw Problem(file: folder, sentence: "holds more than \(fileLimit) scenario files")
        }
      }
    }
  }

  private static func names(in folder: String) throws(Problem) -> [String] {
    guard let directory = opendir(folder) else {
      throw Problem(file: folder, sentence: "cannot be read: \(Errno.text(errno))")
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      names.append(name)
    }
    return names.sorted()
  }
}
