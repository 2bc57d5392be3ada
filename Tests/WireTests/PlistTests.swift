import Testing
import Wire

@Suite struct `a property list` {
  @Test(arguments: PlistSamples.all)
  func `survives the way to XML and back`(_ value: Plist) throws {
    #expect(try Plist(parsing: value.xml) == value)
  }

  @Test(arguments: PlistSamples.all)
  func `survives the way to the binary form and back`(_ value: Plist) throws {
    #expect(try Plist(parsing: value.binary) == value)
  }

  @Test func `of a thousand random shapes survives both ways`() throws {
    var random = SplitMix(seed: 20_261_130)

    for _ in 0..<1_000 {
      let value = PlistSamples.random(depth: 5, &random)
      #expect(try Plist(parsing: value.xml) == value)
      #expect(try Plist(parsing: value.binary) == value)
    }
  }

  @Test func `H09: keeps characters that XML writes as large numbers`() throws {
    let text = "<plist version=\"1.0\"><string>Lab &#128664; &amp; &#x1F4F1;</string></plist>"

    let value = try Plist(parsing: Array((PlistSamples.header + text).utf8))

    #expect(value.string.map { Array($0.utf8) } == Array("Lab \u{1F698} & \u{1F4F1}".utf8))
  }
}

@Suite struct `hostile property lists` {
  @Test(arguments: ["", "x", "bplist00", "<?xml", "<plist>", "<plist><dict><key>a</key></plist>"])
  func `of broken text are refused or read, never fatal`(_ text: String) {
    let outcome = Result { try Plist(parsing: Array(text.utf8)) }

    if case .failure(let error) = outcome { #expect(error is PlistError) }
  }

  @Test func `nested a hundred thousand deep are refused`() {
    let deep = PlistSamples.header + "<plist>" + String(repeating: "<array>", count: 100_000)

    #expect(throws: PlistError.tooDeep) { try Plist(parsing: Array(deep.utf8)) }
  }

  @Test func `that hide their depth in comments are refused`() {
    let deep = PlistSamples.header + "<plist>" + String(repeating: "<array><!-- </array> -->", count: 100_000)

    #expect(throws: PlistError.tooDeep) { try Plist(parsing: Array(deep.utf8)) }
  }

  @Test func `whose few binary objects expand to billions are refused`() {
    // Twelve arrays, each holding the next one nine times: 9^11 objects once expanded.
    #expect(throws: PlistError.tooLarge) { try Plist(parsing: PlistSamples.binaryBomb(levels: 12, width: 9)) }
  }

  @Test(arguments: ["a\0b", "a&#0;b", "a&#x00;b", "<![CDATA[a\0b]]>"])
  func `with a NUL in a text are refused, since the C library asserts on it`(_ text: String) {
    let bytes = Array((PlistSamples.header + "<plist><string>\(text)</string></plist>").utf8)

    #expect(throws: PlistError.malformed) { try Plist(parsing: bytes) }
    #expect(throws: PlistError.malformed) { try Plist(parsing: PlistSamples.binary([[0x53, 0x61, 0, 0x62]])) }
  }

  @Test func `that contain themselves are refused`() {
    #expect(throws: PlistError.malformed) { try Plist(parsing: PlistSamples.binaryLoop) }
  }

  @Test func `with any bytes changed are refused or read, never fatal`() {
    var random = SplitMix(seed: 7)
    var outcomes = (read: 0, refused: 0)

    for _ in 0..<20_000 {
      let value = PlistSamples.all[Int(random.next() % UInt64(PlistSamples.all.count))]
      var bytes = random.next() % 2 == 0 ? value.xml : value.binary
      for _ in 0...(random.next() % 4) { bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(random.next() & 0xFF) }
      if (try? Plist(parsing: bytes)) != nil { outcomes.read += 1 } else { outcomes.refused += 1 }
    }

    #expect(outcomes.read > 0 && outcomes.refused > 0)
  }
}
