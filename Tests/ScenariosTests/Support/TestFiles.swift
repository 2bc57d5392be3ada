import Fleet

/// Files of the project that tests read.
enum ProjectFile {
  static let root: String = "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  static func text(_ path: String) throws -> String {
    String(decoding: try Files.host.read("\(root)/\(path)", 1 << 20), as: UTF8.self)
  }
}

/// Blocks of YAML in a text of Markdown.
struct FencedBlock: Sendable, CustomStringConvertible {
  var text: String
  /// Where its first line stands.
  var line: Int
  var description: String { "line \(line)" }

  static func all(in text: String, of language: String) -> [FencedBlock] {
    var blocks: [FencedBlock] = []
    var open: FencedBlock?
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      if line == "```", let block = open {
        blocks.append(block)
        open = nil
      } else if line == "```\(language)" {
        open = FencedBlock(text: "", line: number + 2)
      } else {
        open?.text += "\(line)\n"
      }
    }
    return blocks
  }
}
