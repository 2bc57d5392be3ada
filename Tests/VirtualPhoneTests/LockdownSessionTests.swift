import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `a lockdown session` {
  @Test(
    arguments: ["Root", "Host"], [TLSContext.Version.tls10, .tls12, .tls13])
  func `opens for the root's and the host's certificate, in old and new TLS`(
    certificate: String, newest: TLSContext.Version
  ) throws {
    let test = try TestFleet()
    let host = try test.lockdown()

    try host.startSession(try test.record(), certificate: certificate, newest: newest)

    #expect(try host.value("PasswordProtected") == false)
  }

  @Test func `refuses a host whose certificate is not of this pairing`() throws {
    let test = try TestFleet()
    let record = try test.record()
    let stranger = try RSAKey()
    var forged = try #require(record.dictionary)
    forged["RootCertificate"] = .data(try Certificate.pem(.root, of: stranger, signedBy: stranger))
    forged["RootPrivateKey"] = .data(try stranger.privatePEM())
    let host = try test.lockdown()

    // In TLS 1.3 the host has shaken hands before the phone has looked.
    do { try host.startSession(.dictionary(forged)) } catch is StreamError {}

    #expect(host.isEnded())
    #expect(test.fleet.journal.entries().contains { $0.event == "tls-refused" })
  }

  @Test func `refuses a host that presents the device's certificate`() throws {
    let test = try TestFleet()
    let keys = try FleetKeys.shared.get()
    var record = try #require(try test.record().dictionary)
    record["RootCertificate"] = record["DeviceCertificate"]
    record["RootPrivateKey"] = .data(keys.devicePrivateKey)
    let host = try test.lockdown()

    do { try host.startSession(.dictionary(record)) } catch is StreamError {}

    #expect(host.isEnded())
  }

  @Test func `ends by its identifier, inside TLS, and the connection goes on in clear`() throws {
    let test = try TestFleet()
    let host = try test.lockdown()
    let id = try host.startSession(try test.record())

    #expect(try host.error("StopSession") == "MissingSessionID")
    #expect(try host.error("StopSession", ["SessionID": "other"]) == "InvalidSessionID")
    #expect(try host.ask("StopSession", ["SessionID": .string(id)])["Result"] == "Success")
    (host.stream as? TLSStream)?.endSending()
    host.endTLS()

    // The phone's own goodbye may stand before the first clear byte.
    #expect(try host.clearAnswer("GetValue", ["Key": "PasswordProtected"])["Error"] == "GetProhibited")
  }

  @Test func `is one at a time`() throws {
    let test = try TestFleet()

    #expect(try test.session().error("StartSession", ["HostID": test.record()["HostID"] ?? ""]) == "SessionActive")
  }

  @Test func `needs a known host`() throws {
    let test = try TestFleet()
    let host = try test.lockdown()

    #expect(try host.error("StartSession") == "MissingHostID")
    #expect(try host.error("StartSession", ["HostID": "NOBODY"]) == "InvalidHostID")
  }

  @Test(
    arguments: [
      ("password-protected", "PasswordProtected"), ("invalid-host-id", "InvalidHostID"), ("session-only", nil),
    ] as [(String, String?)])
  func `goes in one of three ways before the first unlock`(first: String, error: String?) throws {
    let test = try TestFleet()
    try test.fleet.perform("reboot", on: "1", ["first-unlock": first])
    let record = try test.record()

    let answer = try test.lockdown().ask("StartSession", ["HostID": record["HostID"] ?? ""])
    #expect(answer["Error"]?.string == error)
    if error == nil {
      let host = try test.session()
      #expect(try host.value("PasswordProtected") == true)
      #expect(try host.startService("com.apple.mobile.notification_proxy")["Error"] != nil)
    }

    try test.fleet.perform("unlock", on: "1")
    #expect(try test.session().value("PasswordProtected") == false)
  }

  @Test func `ends when the cable is pulled`() throws {
    let test = try TestFleet()
    let host = try test.session()

    try test.fleet.perform("detach", on: "1")

    #expect(host.isEnded())
  }

  @Test(arguments: ["close", "garbage", "half"])
  func `H15: breaks where it is told to`(kind: String) throws {
    let test = try TestFleet()
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": kind, "request": "GetValue", "count": "1"])
    let host = try test.lockdown()

    #expect(try host.ask("QueryType")["Type"] == "com.apple.mobile.lockdown")
    #expect(throws: (any Error).self) { try host.ask("GetValue") }
    #expect(try test.lockdown().value("DeviceName") == "Phone 1")
  }

  @Test func `H15: breaks in the middle of TLS`() throws {
    let test = try TestFleet()
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": "close", "request": "TLS", "count": "1"])

    #expect(throws: StreamError.self) { try test.session() }
    #expect(try test.session().value("PasswordProtected") == false)
  }

  @Test func `hangs when told to, until the cable is pulled`() throws {
    let test = try TestFleet()
    try test.fleet.perform("lockdown-fault", on: "1", ["kind": "hang", "request": "all"])
    let host = try test.lockdown()

    try host.send("GetValue")
    #expect(throws: StreamError.timedOut) { try host.stream.read(max: 1, by: .after(.milliseconds(50))) }
    try test.fleet.perform("detach", on: "1")

    #expect(host.isEnded())
  }
}

extension LockdownHost {
  /// An answer in clear after TLS: skips the alert that closed it.
  fileprivate func clearAnswer(_ request: String, _ more: [String: Plist]) throws -> Plist {
    try send(request, more)
    var header = try socket.read(exactly: 4, by: .after(soon))
    let tlsRecord: Set<UInt8> = [0x15, 0x17]
    while let kind = header.first, tlsRecord.contains(kind) {
      let length = Int(header[3]) << 8 | Int(try socket.read(exactly: 1, by: .after(soon))[0])
      _ = try socket.read(exactly: length, by: .after(soon))
      header = try socket.read(exactly: 4, by: .after(soon))
    }
    return try Plist(
      parsing: try socket.read(exactly: try ServiceFrame.payloadSize(header, limit: 1 << 20), by: .after(soon)))
  }
}
