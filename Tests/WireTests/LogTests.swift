import Testing
import Wire

@Suite struct `the phone's log` {
  private let line = "Nov 30 18:22:14 Hall-Phone Kiosk(UIKitCore)[411] <Notice>: camera on"

  @Test func `is taken apart into lines with their programs`() {
    var splitter = LogSplitter()

    let records = splitter.feed(Array("\(line)\n\0Nov  3 08:00:00 x kernel[0] <Error>: low\n\0".utf8))

    #expect(
      records == [
        LogRecord(text: line, process: "Kiosk", pid: 411),
        LogRecord(text: "Nov  3 08:00:00 x kernel[0] <Error>: low", process: "kernel", pid: 0),
      ])
  }

  @Test func `is the same whatever pieces it comes in`() {
    let bytes = Array("\(line)\n\0second\n\0".utf8)
    var whole = LogSplitter()
    let expected = whole.feed(bytes)

    for size in 1...7 {
      var splitter = LogSplitter()
      var records: [LogRecord] = []
      for start in stride(from: 0, to: bytes.count, by: size) {
        records += splitter.feed(bytes[start..<min(start + size, bytes.count)])
      }
      #expect(records == expected)
    }
  }

  @Test func `gives the further lines of a record to the same program, and the next record to its own`() {
    var splitter = LogSplitter()

    let records = splitter.feed(Array("\(line)\nmore\n\0without a head\n\0".utf8))

    #expect(records.map(\.process) == ["Kiosk", "Kiosk", nil])
  }

  @Test func `keeps control characters and replaces what is not UTF-8`() {
    var splitter = LogSplitter()

    let records = splitter.feed([0x1B, 0x5B, 0x41, 0xFF, 0x0A, 0x00])

    #expect(records == [LogRecord(text: "\u{1B}[A\u{FFFD}")])
  }

  @Test func `is cut where a line has no end`() {
    var splitter = LogSplitter()
    for _ in 0..<100 { #expect(splitter.feed([UInt8](repeating: 0x41, count: 10_000)).isEmpty) }

    let records = splitter.feed([0x0A])

    #expect(records.first?.text.utf8.count == LogSplitter.limit)
    #expect(records.first?.isCut == true)
    #expect(splitter.feed(Array("b\n".utf8)) == [LogRecord(text: "b")])
  }

  @Test(arguments: [
    "", "x", "] <", "[1] <", "Nov 30 18:22:14 Host [1] <Notice>: x", "Nov 30 18:22:14 Host Kiosk[x] <Notice>: x",
    "Nov 30 18:22:14 Host Kiosk[-1] <Notice>: x",
  ])
  func `names no program where the line names none`(_ text: String) {
    var splitter = LogSplitter()

    #expect(splitter.feed(Array("\(text)\n".utf8)).first?.process == nil)
  }

  @Test func `knows programs with blanks in their names`() {
    var splitter = LogSplitter()

    let record = splitter.feed(Array("Nov 30 18:22:14 Host My Kiosk App(Lib)[7] <Debug>: [8] <x>\n".utf8)).first

    #expect(record?.process == "My Kiosk App")
    #expect(record?.pid == 7)
  }
}
