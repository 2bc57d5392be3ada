import Testing
import Wire

@Suite struct `a message of the file service` {
  @Test func `is read as it was written`() throws {
    let frame = AFCFrame(.write, number: 7, data: AFCFrame.bytes(of: 3), payload: [1, 2, 3])

    let header = try AFCFrame.header(Array(frame.bytes.prefix(AFCFrame.headerSize)), limit: 1000)

    #expect(frame.bytes.count == 51)
    #expect((header.operation, header.number) == (0x10, 7))
    #expect((header.dataSize, header.payloadSize) == (8, 3))
    #expect(AFCFrame.word(frame.bytes, at: 40) == 3)
  }

  @Test func `is refused where its lengths do not fit each other or are beyond the limit`() {
    let good = AFCFrame(.data, number: 1, data: [], payload: [UInt8](repeating: 0, count: 60)).bytes.prefix(40)
    func with(_ at: Int, _ value: UInt64) -> [UInt8] {
      var bytes = Array(good)
      bytes.replaceSubrange(at..<(at + 8), with: AFCFrame.bytes(of: value))
      return bytes
    }

    #expect(throws: AFCError.tooLarge) { try AFCFrame.header(Array(good), limit: 99) }
    #expect(throws: AFCError.tooLarge) { try AFCFrame.header(with(8, .max), limit: 1000) }
    #expect(throws: AFCError.malformed) { try AFCFrame.header(with(16, 39), limit: 1000) }
    #expect(throws: AFCError.malformed) { try AFCFrame.header(with(16, 101), limit: 1000) }
    #expect(throws: AFCError.malformed) { try AFCFrame.header(with(0, 0), limit: 1000) }
    #expect(throws: AFCError.malformed) { try AFCFrame.header([], limit: 1000) }
  }

  @Test func `gives texts and pairs, also empty values`() {
    #expect(AFCFrame.texts(Array(".\0..\0a b\0".utf8)) == [".", "..", "a b"])
    #expect(
      AFCFrame.pairs(Array("st_size\u{0}12\0LinkTarget\0\0st_ifmt\0S_IFREG\0".utf8)) == [
        "st_size": "12", "LinkTarget": "", "st_ifmt": "S_IFREG",
      ])
    #expect(AFCFrame.pairs(Array("odd".utf8)).isEmpty)
    #expect(AFCFrame.path("a\0b") == nil)
    #expect(AFCFrame.path("ab") == [97, 98, 0])
    #expect(AFCStatus(8).token == "ObjectNotFound")
    #expect(AFCStatus(99).token == "Status99")
  }
}
