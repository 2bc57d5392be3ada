import Fleet
import Testing

@testable import Scenarios

/// Files with one mistake each, which say in their first lines what is to be said of it.
@Suite struct `a mistake in a scenario file` {
  private static let folder = "\(ProjectFile.root)/Tests/ScenariosTests/mistakes"

  static let files: [String] = (try? ScenarioFolder.files(at: folder)) ?? []

  @Test func `is kept in twenty kinds and more`() { #expect(Self.files.count >= 20) }

  @Test(arguments: files) func `is explained with its place`(_ path: String) throws {
    let bytes = try Files.host.read(path, 1 << 16)
    let expected = String(decoding: bytes, as: UTF8.self).split(separator: "\n").prefix { $0.hasPrefix("# ") }
      .map { "\(path):\($0.dropFirst(2))" }

    let problems = #expect(throws: Problems.self) { try ScenarioFile.parse(path: path) }

    #expect(problems?.list.map(\.description) == expected)
  }
}
