import Fleet
import Testing
import Transport

/// What a text is refused for, one `line:column: sentence` a problem; empty when it is taken.
func refusal(_ text: String) -> [String] { refusal(Array(text.utf8)) }

func refusal(_ bytes: [UInt8]) -> [String] {
  do throws(Problems) {
    _ = try YAMLDocument.parse(bytes, file: "f")
    return []
  } catch {
    return error.list.map { String($0.description.dropFirst(2)) }
  }
}

func parsed(_ text: String) throws -> YAMLNode { try YAMLDocument.parse(Array(text.utf8), file: "f") }

@Suite struct `a YAML file` {
  @Test func `becomes nodes that know their place`() throws {
    let root = try parsed("a: 1\nb:\n  - 'x'\n  - {c: \"ü\", d: ~}\n")

    #expect(root["a"]?.value == .scalar("1", plain: true))
    #expect(root["b"]?.line == 3)
    #expect(root["b"]?.column == 3)
    guard case .sequence(let items) = root["b"]?.value else { throw Stray(root) }
    #expect(items[0].value == .scalar("x", plain: false))
    #expect(items[1].isFlow)
    #expect(items[1]["c"]?.value == .scalar("ü", plain: false))
    #expect(items[1]["d"]?.isNull == true)
    #expect(items[1]["d"]?.line == 4)
    #expect(items[1]["d"]?.column == 17)
  }

  @Test func `H52: says both lines of a key that stands twice, and all of them at once`() {
    let text = "steps:\n  - a: 1\n    expect: 1\n    expect: 2\nother: 1\nsteps: []\n"

    #expect(
      refusal(text) == [
        "4:5: 'expect' stands here and already in line 3; a key may stand once",
        "6:1: 'steps' stands here and already in line 1; a key may stand once",
      ])
  }

  @Test func `H53: is read past a byte order mark at its start`() throws {
    let root = try YAMLDocument.parse([0xEF, 0xBB, 0xBF] + Array("scenario: smoke\n".utf8), file: "f")

    #expect(root["scenario"]?.value == .scalar("smoke", plain: true))
    #expect(root["scenario"]?.column == 11)
  }

  @Test func `H53: is refused with the byte at which a second mark stands`() {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    let refused = refusal(mark + Array("a: 1\nb".utf8) + mark + Array(": 2\n".utf8))

    #expect(
      refused == [
        "2:2: byte 10 of the file begins a byte order mark, which may only stand at its start; delete it"
      ])
  }

  @Test func `H54: means the same with CR LF, also inside a block text`() throws {
    let lf = "a: 1\nb: |\n  one\n  two\nc: [x]\n"

    let root = try parsed(lf.replacing("\n", with: "\r\n"))

    #expect(root == (try parsed(lf)))
    #expect(root["b"]?.value == .scalar("one\ntwo\n", plain: false))
  }

  @Test func `H54: is refused for a carriage return that stands alone`() {
    #expect(
      refusal("a: 1\nb: 2\rc: 3\n") == ["2:5: a carriage return stands alone here; end lines with LF or CR LF"])
    #expect(refusal("a: 1\r") == ["1:5: a carriage return stands alone here; end lines with LF or CR LF"])
  }

  @Test func `H55: is refused when its aliases multiply, within a second`() {
    var text = "a: &a [x,x,x,x,x,x,x,x,x]\n"
    for (name, before) in zip("bcdefghi", "abcdefgh") {
      text += "\(name): &\(name) [\(Array(repeating: "*\(before)", count: 9).joined(separator: ","))]\n"
    }

    let start = ContinuousClock.now
    let refused = refusal(text)

    #expect(ContinuousClock.now - start < .seconds(1))
    #expect(
      refused == ["5:14: more than 20000 values, repeated ones counted each time; write fewer aliases"])
  }

  @Test func `H55: keeps a few ordinary anchors`() throws {
    let root = try parsed("a: &ok {status: 200}\nb: *ok\nc: [*ok, *ok]\n")

    #expect(root["b"] == root["a"])
    guard case .sequence(let items) = root["c"]?.value else { throw Stray(root) }
    #expect(items.count == 2)
  }

  struct Refused: Sendable, CustomTestStringConvertible {
    var label: String
    var text: String
    var sentence: String
    var testDescription: String { label }
  }

  @Test(arguments: [
    Refused(label: "empty", text: "# nothing\n", sentence: "1:1: the file is empty"),
    Refused(
      label: "two documents", text: "a: 1\n---\nb: 2\n",
      sentence: "2:1: a second document begins here; put it into a file of its own"),
    Refused(
      label: "merge key", text: "a: &a {status: 200, type: image/jpeg}\nb:\n  <<: *a\n",
      sentence:
        "3:3: merge keys (<<) are not taken; write the keys here themselves: status: 200, type: image/jpeg"),
    Refused(
      label: "tag", text: "a: !!str 1\n",
      sentence: "1:4: tags such as !!str are not taken: each field knows its type, and a text stands in quotes"),
    Refused(label: "unknown alias", text: "a: *b\n", sentence: "1:4: *b repeats a value, but no &b stands before it"),
    Refused(
      label: "alias in itself", text: "a: &a [1, *a]\n", sentence: "1:11: *a stands inside the value that &a names"),
    Refused(
      label: "list as key", text: "? [a, b]\n: 1\n",
      sentence: "1:3: a key must be a text; quote it if it begins with { or ["),
    Refused(
      label: "colon in a text", text: "about: Still: asked\n",
      sentence: "1:13: not YAML: mapping values are not allowed in this context; put quotes around a text with ': '"),
    Refused(
      label: "brace in a text", text: "a:\n  - operator: {name} unlock it\n",
      sentence:
        "2:22: not YAML while parsing a block mapping: did not find expected key; "
        + "put quotes around a text with { } or ': '"
    ),
    Refused(
      label: "colon in braces", text: "a: {contains: b: c}\n",
      sentence:
        "1:16: not YAML while parsing a flow mapping: did not find expected ',' or '}'; "
        + "put quotes around a text with { } or ': '"),
    Refused(
      label: "percent sign", text: "a: %b\n",
      sentence:
        "1:4: not YAML while scanning for the next token: found character that cannot start any token; "
        + "put quotes around a text that begins with % @ or `"),
    Refused(
      label: "tab", text: "a:\n\tb: 1\n",
      sentence:
        "2:1: not YAML while scanning for the next token: found character that cannot start any token; "
        + "indent with spaces, not with tabs"),
    Refused(
      label: "control character", text: "a: \u{7}\n",
      sentence: "1:4: not YAML: control characters are not allowed"),
  ])
  func `is refused where it is no file of ours`(_ row: Refused) {
    #expect(refusal(row.text) == [row.sentence])
  }

  @Test func `is refused at the byte that is not UTF-8`() {
    #expect(
      refusal(Array("a: 1\nb: ".utf8) + [0xC3, 0x28, 0x0A]) == [
        "2:4: byte 9 of the file is not UTF-8; save the file as UTF-8"
      ])
  }

  @Test func `is refused when it is nested too deep, long before the stack ends`() {
    let refused = refusal(String(repeating: "[", count: 100_000))

    #expect(refused == ["1:65: more than 64 levels, one in another"])
  }

  @Test func `is refused when it is too large`() {
    #expect(refusal([UInt8](repeating: 32, count: (1 << 20) + 1)) == [" is larger than 1048576 bytes"])
  }

  @Test func `never ends the process, whatever its bytes`() {
    var random = SeededRandom(seed: 55)
    let pieces = [
      "a", ":", " ", "\n", "-", "{", "}", "[", "]", "&a", "*a", "'", "\"", "|", ">", "\t", "?", "!", "%", "#",
      "\u{FEFF}",
    ]

    for _ in 0..<1_500 {
      let text = (0..<Int.random(in: 0..<40, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
      // Whatever comes back, it is a tree or a problem with a place in the file.
      for problem in refusal(text.joined()) { #expect(!problem.hasPrefix("0:"), "\(text.joined())") }
    }
  }
}

/// A node that is not what the test laid down.
struct Stray: Error, CustomStringConvertible {
  let description: String
  init(_ node: YAMLNode?) { description = "\(String(describing: node))" }
}
