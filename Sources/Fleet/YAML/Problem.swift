/// One thing that is wrong in a file, for the person who wrote it.
public struct Problem: Error, Equatable, Sendable, CustomStringConvertible {
  public var file: String
  /// Counted from 1; 0 where the file as a whole is meant.
  public var line: Int
  /// In characters, counted from 1; 0 where the file as a whole is meant.
  public var column: Int
  public var sentence: String

  public init(file: String, line: Int = 0, column: Int = 0, sentence: String) {
    self.file = file
    self.line = line
    self.column = column
    self.sentence = sentence
  }

  /// `file:line:column: sentence`.
  public var description: String {
    line == 0 ? "\(file): \(sentence)" : "\(file):\(line):\(column): \(sentence)"
  }
}

/// Everything that is wrong in the files read, in the order of file and line. Never empty.
public struct Problems: Error, Equatable, Sendable, CustomStringConvertible {
  public var list: [Problem]

  public init(_ list: [Problem]) { self.list = list }

  /// One line a problem.
  public var description: String { list.map(\.description).joined(separator: "\n") }
}
