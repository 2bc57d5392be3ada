/// One line of a phone's log.
public struct LogRecord: Equatable, Sendable {
  /// The whole line as it came, without its end; control characters are still in it, what is not UTF-8 is replaced.
  public var text: String
  /// The program that wrote it; nil where the line does not tell.
  public var process: String?
  public var pid: Int?
  /// The line was longer than is kept, and its rest is gone.
  public var isCut: Bool

  public init(text: String, process: String? = nil, pid: Int? = nil, isCut: Bool = false) {
    self.text = text
    self.process = process
    self.pid = pid
    self.isCut = isCut
  }
}

extension LogRecord {
  /// Who wrote a line of the form `Mon DD HH:MM:SS Device process(Library)[pid] <Level>: text`.
  ///
  /// - Returns: nil for a line of another form, such as the second one of a record.
  static func origin(_ line: ArraySlice<UInt8>) -> (process: String, pid: Int)? {
    // The level ends the head: what stands behind it is the program's own text.
    guard let head = line.firstRange(of: Array("] <".utf8)).map({ line[..<$0.lowerBound] }),
      let bracket = head.lastIndex(of: UInt8(ascii: "[")),
      let pid = Int(String(decoding: head[head.index(after: bracket)...], as: UTF8.self)), pid >= 0
    else { return nil }
    // Month, day, time and device; a day of one digit has two blanks before it.
    let words = head[..<bracket].split(separator: UInt8(ascii: " "), maxSplits: 4, omittingEmptySubsequences: true)
    guard words.count == 5, words[2].count == 8 else { return nil }
    var name = words[4]
    if name.last == UInt8(ascii: ")"), let library = name.firstIndex(of: UInt8(ascii: "(")) { name = name[..<library] }
    return name.isEmpty ? nil : (String(decoding: name, as: UTF8.self), pid)
  }
}
