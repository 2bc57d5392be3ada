import Testing

@testable import fleetctl
import Wire

@Suite struct `a text on a terminal` {
  struct Width: CustomTestStringConvertible, Sendable {
    var text: String
    var columns: Int
    var testDescription: String { "\(columns) columns" }
  }

  @Test(arguments: [
    Width(text: "hall", columns: 4),
    Width(text: "", columns: 0),
    Width(text: "\u{30C6}\u{30B9}\u{30C8}", columns: 6),  // katakana
    Width(text: "\u{FF83}\u{FF7D}\u{FF84}", columns: 3),  // half-width katakana
    Width(text: "e\u{301}", columns: 1),  // e with a combining acute
    Width(text: "\u{E9}", columns: 1),
    Width(text: "Lab \u{1F698} & \u{1F4F1}", columns: 11),
    Width(text: "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", columns: 2),  // a family
    Width(text: "\u{1F1E9}\u{1F1EA}", columns: 2),  // a flag
    Width(text: "\u{2764}\u{FE0F}", columns: 2),  // a red heart
    Width(text: "\u{D55C}\u{AE00}", columns: 4),  // hangul
    Width(text: "\u{1112}\u{1161}\u{11AB}", columns: 2),  // one hangul syllable in its parts
    Width(text: "a\u{200B}b", columns: 2),  // a space of no width
  ]) func `is as wide as it is drawn`(_ width: Width) {
    #expect(DisplayWidth.of(width.text) == width.columns)
  }

  @Test func `cannot steer it`() {
    let text = "\u{1B}[31mred\u{7}\u{9B}2J\r\n\t\u{202E}gnp\u{2028}\u{7F}"

    #expect(text.printable == #"\u{1B}[31mred\u{7}\u{9B}2J\r\n\t\u{202E}gnp\u{2028}\u{7F}"#)
    #expect("\u{1F468}\u{200D}\u{1F469} ab\u{301}".printable == "\u{1F468}\u{200D}\u{1F469} ab\u{301}")
  }

  @Test func `is kept apart from colour that nobody wants`() {
    func style(_ choice: String?, _ environment: Environment, _ isTerminal: Bool) -> Bool {
      Style(choice: choice, environment: environment, isTerminal: isTerminal).isColoured
    }

    #expect(style(nil, [:], true))
    #expect(!style(nil, [:], false))
    #expect(!style("auto", ["NO_COLOR": "1"], true))
    #expect(style("auto", ["NO_COLOR": ""], true))
    #expect(!style("auto", ["TERM": "dumb"], true))
    #expect(style("always", ["NO_COLOR": "1"], false))
    #expect(!style("never", [:], true))
    #expect(Style(isColoured: true).bad("no") == "\u{1B}[31mno\u{1B}[0m")
    #expect(Style.plain.bad("no") == "no")
  }
}

@Suite struct `a table` {
  @Test func `lines up names of other scripts, emoji and names that try to steer`() {
    var table = Table()
    table.add(["\u{30C6}\u{30B9}\u{30C8}", "x", "usb"])
    table.add(["Lab \u{1F698}", "", "usb"])
    table.add(["a\u{1B}b", "long", ""])

    #expect(
      table.lines == [
        "\u{30C6}\u{30B9}\u{30C8}    x     usb",
        "Lab \u{1F698}    -     usb",
        "a\\u{1B}b  long  -",
      ])
  }

  @Test func `of nothing has no line`() { #expect(Table().lines.isEmpty) }
}
