import Testing
import Wire

@Suite struct `text that others wrote` {
  @Test func `is one line that steers no terminal`() {
    #expect("No, \u{1B}[31mreally\r\nnot\u{202E} \u{FFFE}".oneLine() == "No, \u{FFFD}[31mreally  not\u{FFFD} \u{FFFD}")
    #expect("line\n\n".oneLine() == "line")
  }

  @Test func `keeps what people write with`() {
    let text = "\u{1F468}\u{200D}\u{1F469} ab\u{301} שלום ñ"

    #expect(text.oneLine() == text)
    #expect(text.printable == text)
  }

  @Test func `has a bounded length`() {
    #expect(String(repeating: "x", count: 1000).oneLine().count == 300)
    #expect(String(repeating: "x", count: 1000).oneLine(limit: .max).count == 1000)
  }

  @Test func `is whole again where it is shown with escapes`() {
    #expect("a\u{1B}[31m\r\n\u{FFFF}".printable == #"a\u{1B}[31m\r\n\u{FFFF}"#)
  }
}
