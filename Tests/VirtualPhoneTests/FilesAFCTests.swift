import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `AFC on the media folder` {
  @Test func `shows its folders, and what each is`() throws {
    let host = try AFCClient(try TestPhone())

    #expect(
      try host.names("/") == [".", "..", "Books", "DCIM", "Downloads", "PhotoData", "PublicStaging", "iTunes_Control"])
    let facts = try host.facts("/DCIM")
    #expect(facts?["st_ifmt"] == "S_IFDIR")
    // Nanoseconds since 1970.
    #expect(facts?["st_mtime"].flatMap(Int.init) ?? 0 > 1_600_000_000_000_000_000)
    #expect(try host.status(0x0A, AFCClient.text("/none")) == 8)
    let device = try host.texts(0x0B) ?? []
    #expect(device.prefix(2) == ["Model", "iPhone12,1"])
    #expect(device.contains("FSFreeBytes"))
  }

  @Test func `takes a file up and gives it back, byte for byte`() throws {
    let phone = try TestPhone()
    let host = try AFCClient(phone)
    let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 * 7) }

    #expect(try host.status(9, AFCClient.text("/PublicStaging/new/deep")) == 0)
    try host.put("/PublicStaging/new/deep/a.bin", bytes)

    #expect(try host.get("/PublicStaging/new/deep/a.bin") == bytes)
    #expect(try host.facts("/PublicStaging/new/deep/a.bin")?["st_size"] == "200000")
    let closed = try #require(phone.events("afc").first { $0.details["operation"] == "FileClose" })
    #expect(closed.details["path"] == "/PublicStaging/new/deep/a.bin")
    #expect(closed.details["bytes_written"] == 200_000)
  }

  @Test func `seeks, tells, cuts and appends`() throws {
    let host = try AFCClient(try TestPhone())
    try host.put("/a", Array("0123456789".utf8))
    let both = try #require(try host.open("/a", 2))

    #expect(try host.seek(both, 2, -3) == 0)
    #expect(try host.read(both, 100) == Array("789".utf8))
    #expect(try host.read(both, 100) == [])
    #expect(try host.seek(both, 0, 2) == 0)
    #expect(try host.write(both, Array("xy".utf8)) == 0)
    let place = try host.ask(0x12, AFCClient.little(both))
    #expect(place.operation == 0x13)
    #expect(place.data == AFCClient.little(UInt64(4)))
    #expect(try host.seek(both, 1, -5) == 7)
    #expect(try host.seek(both, 7, 0) == 7)
    #expect(try host.status(0x15, AFCClient.little(both) + AFCClient.little(UInt64(5))) == 0)
    let end = try #require(try host.open("/a", 5))
    #expect(try host.write(end, Array("!".utf8)) == 0)

    #expect(try host.get("/a") == Array("01xy4!".utf8))
  }

  @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
  func `opens in each mode as its number says`(mode: UInt64) throws {
    let host = try AFCClient(try TestPhone())
    try host.put("/old", Array("old".utf8))

    let missing = try host.open("/new", mode)
    let old = try #require(try host.open("/old", mode))
    let read = try host.read(old, 10)
    let written = try host.write(old, Array("+".utf8))
    _ = try host.close(old)

    #expect((missing != nil) == (mode != 1))
    #expect(read == [1: Array("old".utf8), 2: Array("old".utf8), 4: [], 6: Array("old".utf8)][mode])
    #expect(written == (mode == 1 ? 10 : 0))
    let now = try #require(try host.get("/old"))
    #expect(String(decoding: now, as: UTF8.self) == [1: "old", 2: "old+", 3: "+", 4: "+", 5: "old+", 6: "old+"][mode])
  }

  @Test func `renames, links, dates and removes`() throws {
    let host = try AFCClient(try TestPhone())
    try host.put("/DCIM/a", [1])

    #expect(try host.status(0x18, AFCClient.text("/DCIM/a") + AFCClient.text("/DCIM/b")) == 0)
    #expect(
      try host.status(0x1C, AFCClient.little(UInt64(2)) + AFCClient.text("DCIM/b") + AFCClient.text("/link")) == 0)
    #expect(try host.status(0x1E, AFCClient.little(UInt64(1_700_000_000_000_000_000)) + AFCClient.text("/DCIM/b")) == 0)
    #expect(try host.facts("/DCIM/b")?["st_mtime"] == "1700000000000000000")
    #expect(try host.facts("/link")?["LinkTarget"] == "DCIM/b")
    #expect(try host.get("/link") == [1])
    #expect(try host.status(8, AFCClient.text("/DCIM")) == 1)
    #expect(try host.status(0x22, AFCClient.text("/DCIM")) == 0)

    #expect(try host.get("/link") == nil)
    #expect(try host.status(8, AFCClient.text("/DCIM")) == 8)
  }

  @Test func `reads a removed file on through its handle, and forgets it afterwards`() throws {
    let phone = try TestPhone()
    let host = try AFCClient(phone)
    try host.put("/a", Array("still".utf8))
    let handle = try #require(try host.open("/a"))

    #expect(try host.status(8, AFCClient.text("/a")) == 0)
    #expect(try host.read(handle, 10) == Array("still".utf8))
    #expect(phone.phone.files.media.with { $0.used } == 5)
    host.service.socket.close()
    #expect(host.service.worker.join(by: .after(.seconds(10))))

    #expect(phone.phone.files.media.with { $0.used } == 0)
  }

  @Test(
    arguments: [
      (0x0D, AFCClient.little(UInt64(1)) + AFCClient.text("/DCIM"), 9),
      (0x0D, AFCClient.little(UInt64(9)) + AFCClient.text("/a"), 7),
      (0x0D, AFCClient.little(UInt64(1)) + AFCClient.text("/none"), 8),
      (0x0D, AFCClient.little(UInt64(3)) + AFCClient.text("/none/a"), 8),
      (0x0D, [1, 2, 3], 7), (0x0F, AFCClient.little(UInt64(77)) + AFCClient.little(UInt64(1)), 7),
      (0x10, AFCClient.little(UInt64(77)), 7), (0x14, AFCClient.little(UInt64(77)), 7), (0x14, [], 7),
      (0x03, [], 7), (0x03, [0xFF, 0xFE, 0], 7), (0x09, AFCClient.text("/DCIM"), 0), (0x08, AFCClient.text("/"), 10),
      (0x1C, AFCClient.little(UInt64(3)) + AFCClient.text("/a") + AFCClient.text("/b"), 7),
      (0x18, AFCClient.text("/a"), 7), (0x16, [], 15), (0x1D, AFCClient.text("/a"), 15), (0x0E, [], 6), (0x99, [], 6),
      (UInt64.max, [], 6), (0x17, AFCClient.little(UInt64(1)), 0),
      (0x1B, AFCClient.little(UInt64(1)) + AFCClient.little(UInt64(5)), 7),
    ] as [(UInt64, [UInt8], UInt64)])
  func `answers what cannot be done with its code, and goes on`(operation: UInt64, data: [UInt8], code: UInt64) throws {
    let host = try AFCClient(try TestPhone())

    #expect(try host.status(operation, data) == code)
    #expect(try host.names("/")?.count == 8)
  }

  @Test func `gives out only so many handles`() throws {
    let host = try AFCClient(try TestPhone())
    try host.put("/a", [])
    for _ in 0..<64 { #expect(try host.open("/a") != nil) }

    #expect(try host.status(0x0D, AFCClient.little(UInt64(1)) + AFCClient.text("/a")) == 3)
  }

  @Test func `is full when it is full, and stays in step`() throws {
    let phone = try TestPhone()
    phone.phone.files.media.with { $0 = FileTree(bytes: 1000, entries: 10) }
    let host = try AFCClient(phone)
    let handle = try #require(try host.open("/a", 3))

    #expect(try host.write(handle, [UInt8](repeating: 1, count: 600_000)) == 18)
    #expect(try host.write(handle, [1]) == 0)
    #expect(try host.status(0x15, AFCClient.little(handle) + AFCClient.little(UInt64.max)) == 18)
    #expect(try host.names("/") == [".", "..", "a"])
  }

  @Test(
    arguments: [
      Array("CFA6LPAB".utf8) + [UInt8](repeating: 0, count: 32),
      Array("CFA6LPAA".utf8) + [UInt8](repeating: 0, count: 32),
      Array("CFA6LPAA".utf8) + [UInt8](repeating: 0xFF, count: 32),
      Array("CFA6LPAA".utf8) + AFCClient.little(UInt64(40)) + AFCClient.little(UInt64(48))
        + [UInt8](repeating: 0, count: 16),
      Array("CFA6LPAA".utf8) + AFCClient.little(UInt64(1 << 40)) + AFCClient.little(UInt64(1 << 40))
        + [UInt8](repeating: 3, count: 16),
      Array("CFA6LPAA".utf8) + AFCClient.little(UInt64(1 << 60)) + AFCClient.little(UInt64(48))
        + [UInt8](repeating: 3, count: 16),
    ])
  func `refuses a packet that is none, and hangs up`(bytes: [UInt8]) throws {
    let host = try AFCClient(try TestPhone())

    try host.send(raw: bytes)
    let answer = try host.receive()

    #expect(answer.operation == 1)
    #expect([2, 13].contains(answer.data.first))
    #expect(host.service.ends())
  }

  @Test func `survives any bytes`() throws {
    let phone = try TestPhone()
    var random = SystemRandomNumberGenerator()
    for round in 0..<300 {
      let host = try AFCClient(phone)
      let bytes: [UInt8]
      if round.isMultiple(of: 3) {
        bytes = (0..<Int.random(in: 0..<200, using: &random)).map { _ in .random(in: 0...255, using: &random) }
      } else {
        // Well framed, with data that mean nothing.
        bytes = (0..<4).flatMap { _ in
          AFCClient.packet(
            .random(in: 0...0x2A, using: &random),
            data: (0..<Int.random(in: 0..<48, using: &random)).map { _ in .random(in: 0...255, using: &random) },
            payload: (0..<Int.random(in: 0..<20, using: &random)).map { _ in .random(in: 0...255, using: &random) })
        }
      }
      try host.send(raw: bytes)
      host.service.socket.close()
      #expect(host.service.worker.join(by: .after(.seconds(20))))
    }

    #expect(try AFCClient(phone).names("/") != nil)
  }
}
