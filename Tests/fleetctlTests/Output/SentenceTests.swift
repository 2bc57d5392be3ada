import Glibc
import Testing

@testable import fleetctl

@Suite struct `a sentence` {
  /// Texts that are reached only once their command is there.
  private static let ahead: Set<String> = [
    "doctor", "outcomes", "pause", "resume", "status", "supervise", "why",
  ]

  @Test func `names only commands that exist`() throws {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    let files = Self.swiftFiles(in: root + "/Sources")
    let heads = Set(Commands.all.compactMap { $0.spec.name.split(separator: " ").first.map(String.init) })
    var named = 0

    for file in files {
      for line in `fleetctl init`.read(file).split(separator: "\n") where !line.contains("//") {
        for word in Self.commands(in: line) {
          named += 1
          #expect(heads.union(["help", "--version"]).union(Self.ahead).contains(word), "\(file): \(line)")
        }
      }
    }

    #expect(files.count > 100 && named > 50)
  }

  /// The words after `fleetctl` where a line tells somebody what to type.
  private static func commands(in line: Substring) -> [String] {
    line.matches(of: /(?:: |; )fleetctl ([a-z-]+)/).map { String($0.output.1) }
  }

  private static func swiftFiles(in folder: String) -> [String] {
    guard let handle = opendir(folder) else { return [] }
    defer { closedir(handle) }
    var files: [String] = []
    while let entry = readdir(handle) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name.hasSuffix(".swift") {
        files.append("\(folder)/\(name)")
      } else if !name.hasPrefix(".") {
        files += swiftFiles(in: "\(folder)/\(name)")
      }
    }
    return files
  }
}
