@testable import DeviceBridge
import Testing
import Wire

/// A PNG's head, as far as it is read.
private func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
  func bytes(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
  return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + bytes(width)
    + bytes(height) + [8, 2, 0, 0, 0, 0, 0, 0, 0]
}

/// A little-endian TIFF's head with width as 16 and height as 32 bits.
private let tiff: [UInt8] =
  [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0, 2, 0] + [0, 1, 3, 0, 1, 0, 0, 0, 0x80, 2, 0, 0]
  + [1, 1, 4, 0, 1, 0, 0, 0, 0x70, 4, 0, 0]

@Suite struct `a picture of the screen` {
  @Test func `tells its size and its form`() {
    let (first, second) = (Picture(png(1170, 2532)), Picture(tiff))

    #expect(first?.width == 1170)
    #expect(first?.height == 2532)
    #expect(first?.format == .png)
    #expect(second?.width == 640)
    #expect(second?.height == 1136)
    #expect(second?.format == .tiff)
  }

  @Test func `shows nothing of itself when it is printed, dumped or described`() throws {
    let secret = Array("PIXELS".utf8)
    let picture = try #require(Picture(png(2, 2) + secret))
    var dumped = ""
    dump(picture, to: &dumped)

    for text in [dumped, "\(picture)", String(reflecting: picture), String(describing: Optional(picture))] {
      #expect(!text.contains("PIXELS"))
      #expect(!text.contains("80, 73"))
      #expect(text.contains("2 by 2"))
    }
    #expect(picture.withBytes { Array($0.suffix(6)) } == secret)
    #expect(!((picture as Any) is any Encodable))
  }

  @Test func `is none where the bytes are none`() {
    for bytes in [
      [], Array("GIF89a".utf8), Array(png(1, 1).prefix(20)), png(0, 5), png(1 << 20, 5), Array(tiff.prefix(30)),
    ] {
      #expect(Picture(bytes) == nil)
    }
    for end in 0..<tiff.count { _ = Picture(Array(tiff.prefix(end))) }
    var endless = tiff
    endless.replaceSubrange(4..<8, with: [0xFF, 0xFF, 0xFF, 0xFF])
    #expect(Picture(endless) == nil)
  }
}

@Suite struct `a crash report` {
  @Test func `of a newer iOS gives type and place`() {
    let text = """
      {"app_name":"Kiosk","bug_type":"309"}
      {"exception":{"type":"EXC_CRASH","signal":"SIGABRT"},"faultingThread":1,
       "threads":[{"frames":[{"imageIndex":0,"imageOffset":4}]},
        {"triggered":true,"frames":[{"imageIndex":1,"symbol":"-[Camera start]","symbolLocation":12,"imageOffset":99}]}],
       "usedImages":[{"name":"dyld"},{"name":"Kiosk"}]}
      """

    let facts = CrashFacts(Array(text.utf8))

    #expect(facts.type == "EXC_CRASH (SIGABRT)")
    #expect(facts.topFrame == "Kiosk -[Camera start] + 12")
  }

  @Test func `without a symbol gives image and offset`() {
    let text = """
      {"bug_type":"309"}
      {"exception":{"type":"EXC_BREAKPOINT"},"faultingThread":0,"threads":[{"frames":[{"imageIndex":0,"imageOffset":4096}]}],
       "usedImages":[{"name":"Kiosk"}]}
      """

    let facts = CrashFacts(Array(text.utf8))

    #expect(facts.type == "EXC_BREAKPOINT")
    #expect(facts.topFrame == "Kiosk + 4096")
  }

  @Test func `of an older iOS is read as text`() {
    let text = """
      {"app_name":"Kiosk"}
      Incident Identifier: 0
      Exception Type:  EXC_BAD_ACCESS (SIGSEGV)
      Triggered by Thread:  2

      Thread 0 name:  main
      Thread 0:
      0   libsystem_kernel.dylib        \t0x1 mach_msg_trap + 8

      Thread 2 Crashed:
      0   Kiosk                         \t0x0000000102a40f00 Camera.start() + 44
      1   Kiosk                         \t0x0000000102a40e00 main + 4
      """

    let facts = CrashFacts(Array(text.utf8))

    #expect(facts.type == "EXC_BAD_ACCESS (SIGSEGV)")
    #expect(facts.topFrame?.hasPrefix("Kiosk ") == true)
    #expect(facts.topFrame?.contains("Camera.start() + 44") == true)
  }

  @Test(arguments: [
    "", "\n", "{}\n{}", "{}\n{\"threads\":3}", "{}\n{\"threads\":[{\"triggered\":true}]}", "x\ny",
    "{}\n{\"faultingThread\":-1,\"threads\":[]}",
  ])
  func `that says nothing is no trouble`(_ text: String) {
    let facts = CrashFacts(Array(text.utf8))

    #expect(facts.type == nil)
    #expect(facts.topFrame == nil)
  }

  @Test func `belongs to the executable whose whole name it bears`() {
    #expect(PhoneWork.isReport("Kiosk-2026-11-30-101112.ips", of: "Kiosk"))
    #expect(PhoneWork.isReport("Kiosk-2026-11-30-101112.000.ips", of: "Kiosk"))
    #expect(!PhoneWork.isReport("Kiosk-Helper-2026-11-30-101112.ips", of: "Kiosk"))
    #expect(!PhoneWork.isReport("KioskTwo-2026-11-30-101112.ips", of: "Kiosk"))
    #expect(!PhoneWork.isReport("Kiosk-2026-11-30-101112.txt", of: "Kiosk"))
  }
}

@Suite struct `a change of builds` {
  private func app(_ bundle: String, _ build: String, path: String, number: Int64) -> InstalledApp {
    InstalledApp(
      bundle: bundle,
      info: [
        "CFBundleShortVersionString": "1.0", "CFBundleVersion": .string(build), "Path": .string(path),
        "SequenceNumber": .integer(number),
      ])
  }

  @Test func `is the app that is new, or lies in another place`() {
    let old = app("a", "1", path: "/x", number: 1)
    let other = app("b", "7", path: "/b", number: 2)
    let same = app("a", "1", path: "/y", number: 3)

    #expect(PhoneWork.change(["a": old], ["a": old]) == nil)
    #expect(
      PhoneWork.change(["a": old, "b": other], ["a": same, "b": other]) == BuildChange(bundle: "a", old: old, new: same)
    )
    #expect(PhoneWork.change(["a": old], ["a": old, "b": other])?.old == nil)
    #expect(BuildChange(bundle: "a", old: old, new: app("a", "2", path: "/z", number: 4)).text == "1.0 (1) → 1.0 (2)")
  }
}
