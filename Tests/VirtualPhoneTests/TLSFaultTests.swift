import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a TLS handshake` {
  /// The host's first message, as OpenSSL makes it.
  private func clientHello() throws -> [UInt8] {
    let record = try Plist(
      parsing: FleetKeys.shared.get().pairRecord(hostID: "H", systemBUID: "B", escrowBag: [], wifiAddress: "W"))
    let (near, far) = try Socket.pair()
    #expect(throws: StreamError.timedOut) {
      try TLSStream.connect(
        on: near,
        try .client(
          certificatePEM: record["RootCertificate"]?.bytes ?? [], keyPEM: record["RootPrivateKey"]?.bytes ?? []),
        by: .after(.zero))
    }
    return try far.read(max: 1 << 14, by: .after(soon))
  }

  /// A connection on which StartSession was answered, and the next bytes are TLS.
  private func begun(_ fault: [String: String]) throws -> (TestFleet, LockdownHost) {
    let test = try TestFleet()
    try test.fleet.perform("tls-fault", on: "1", fault)
    let host = try test.lockdown()
    _ = try host.ask("StartSession", ["HostID": try test.record()["HostID"] ?? ""])
    return (test, host)
  }

  private func isSilent(_ socket: Socket) -> Bool {
    do throws(StreamError) {
      _ = try socket.read(max: 1, by: .after(.milliseconds(50)))
      return false
    } catch {
      return error == .timedOut
    }
  }

  @Test func `may hang before the phone's first word`() throws {
    let (_, host) = try begun(["step": "hello"])

    try host.socket.write(try clientHello(), by: .after(soon))

    #expect(isSilent(host.socket))
  }

  @Test func `may hang in the middle of the phone's first flight`() throws {
    let (_, host) = try begun(["step": "flight"])

    try host.socket.write(try clientHello(), by: .after(soon))
    let header = try host.socket.read(exactly: 5, by: .after(soon))
    let body = try host.socket.read(exactly: Int(header[3]) << 8 | Int(header[4]), by: .after(soon))
    let next = try host.socket.read(exactly: 3, by: .after(soon))

    // ServerHello, then three bytes of the next record.
    #expect([header[0], body[0]] == [22, 2])
    #expect(next.count == 3)
    #expect(isSilent(host.socket))
  }

  @Test func `may hang before the phone's last word`() throws {
    let (test, host) = try begun(["step": "finished"])
    let record = try test.record()

    // The host is made to wait for more; how far it came shows in what the phone does when it may close instead.
    #expect(throws: StreamError.self) { try host.startTLS(record, by: .after(.milliseconds(200))) }
  }

  @Test func `is as good as done when the phone closes before its last word`() throws {
    let (test, host) = try begun(["step": "finished", "kind": "close"])

    #expect(throws: StreamError.tls("unexpected eof while reading")) { try host.startTLS(try test.record()) }
    #expect(!test.fleet.journal.entries().contains { $0.event == "tls-refused" })
  }

  @Test func `may be the last thing that the phone does`() throws {
    let (test, host) = try begun(["step": "after"])
    try host.startTLS(try test.record())

    try host.send("GetValue", ["Key": "DeviceName"])
    let silent = #expect(throws: StreamError.timedOut) {
      // TLS 1.3 has tickets under way; nothing of lockdown's follows them.
      try host.stream.read(max: 1, by: .after(.milliseconds(50)))
    }
    try test.fleet.perform("detach", on: "1")

    #expect(silent != nil)
    #expect(host.isEnded())
  }

  @Test(arguments: ["hello", "flight", "finished", "after"])
  func `H21: that ends at any step leaves the pair record as it is`(step: String) throws {
    let test = try TestFleet()
    let before = try test.record()
    try test.fleet.perform("tls-fault", on: "1", ["kind": "close", "step": step, "count": "1"])

    #expect(throws: (any Error).self) {
      let session = try test.session()
      _ = try session.value("DeviceName")
    }

    #expect(try test.record() == before)
    #expect(try test.session().value("DeviceName") == "Phone 1")
  }

  @Test func `H21: of a phone that speaks TLS 1.0 only goes so`() throws {
    let (test, host) = try begun(["kind": "tls10"])

    try host.startTLS(try test.record())

    #expect((host.stream as? TLSStream)?.version == "TLSv1")
    #expect(try host.value("DeviceName") == "Phone 1")
  }

  @Test func `H21: of a phone that speaks no version of the host's is refused in TLS's own words`() throws {
    let (test, host) = try begun(["kind": "alert"])
    var text = ""

    do { try host.startTLS(try test.record()) } catch StreamError.tls(let words) { text = words }

    #expect(text.contains("protocol version"))
  }

  @Test func `may go wrong for one service and not for the session`() throws {
    let phone = try LonePhone()
    phone.phone.state.with {
      $0.tlsFaults = [TLSFault(kind: .close, step: .hello, place: "com.example.echo", left: 1)]
    }
    let session = try phone.session()

    #expect(throws: StreamError.self) { try phone.open(try session.startService("com.example.echo")) }
    #expect(try phone.open(try session.startService("com.example.echo")).echo("x")["Got"] == "x")
  }

  @Test(arguments: ["session", "services", "all"]) func `may go wrong in one place or everywhere`(place: String) throws
  {
    let phone = try LonePhone()
    phone.phone.state.with { $0.tlsFaults = [TLSFault(kind: .close, step: .hello, place: place)] }

    guard place == "services" else {
      #expect(throws: StreamError.self) { try phone.session() }
      return
    }
    let session = try phone.session()
    #expect(throws: StreamError.self) { try phone.open(try session.startService("com.example.echo")) }
  }
}
