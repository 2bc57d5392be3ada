import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `StartService` {
  @Test func `gives a port behind TLS, which outlives its session`() throws {
    let phone = try LonePhone()
    let session = try phone.session()

    let answer = try session.startService("com.example.old-echo")
    session.socket.close()
    let service = try phone.open(answer, certificate: "Host")

    #expect(answer["Service"] == "com.example.old-echo")
    #expect(answer["EnableServiceSSL"] == true)
    #expect((49152...65535).contains(answer["Port"]?.int ?? 0))
    #expect(try service.echo(["a": 1]) == ["Service": "com.example.old-echo", "Got": ["a": 1]])
  }

  @Test func `gives each port to one connection`() throws {
    let phone = try LonePhone()
    let answer = try phone.session().startService("com.example.echo")
    let port = try #require(answer["Port"]?.int.flatMap { UInt16(exactly: $0) })

    let first = try phone.open(answer)
    _ = try first.echo(["a": 1])

    #expect(try phone.dial(port) == nil)
  }

  @Test func `refuses what is unknown, unnamed, or asked for without a session`() throws {
    let phone = try LonePhone()

    #expect(try phone.session().startService("com.example.none")["Error"] == "InvalidService")
    #expect(try phone.session().error("StartService") == "MissingService")
    #expect(try phone.lockdown().startService("com.example.echo")["Error"] == "SessionInactive")
  }

  @Test func `without a session gives clear text, for the service that allows it`() throws {
    let phone = try LonePhone(needs: ServiceNeeds(session: false))

    let answer = try phone.lockdown().startService("com.example.echo")

    #expect(answer["EnableServiceSSL"] == nil)
    #expect(try phone.open(answer).echo("x")["Got"] == "x")
  }

  @Test func `wants the developer image for a developer service`() throws {
    let phone = try LonePhone(needs: ServiceNeeds(developerImage: true))
    phone.phone.state.with { $0.developerImageMounted = false }

    let without = try phone.session().startService("com.example.echo")
    phone.phone.state.with { $0.developerImageMounted = true }
    let with = try phone.session().startService("com.example.echo")

    #expect(without["Error"] == "InvalidService")
    #expect(with["Port"] != nil)
  }

  @Test(arguments: [("16.7", nil), ("17.6", "InvalidService"), ("26.1", "InvalidService")] as [(String, String?)])
  func `H24: knows no classic developer service from iOS 17 on`(ios: String, error: String?) throws {
    let phone = try LonePhone(ios: ios, needs: ServiceNeeds(goneSince: 17))

    #expect(try phone.session().startService("com.example.echo")["Error"]?.string == error)
  }

  @Test func `starts nothing before the first unlock`() throws {
    let phone = try LonePhone()
    phone.phone.state.with {
      $0.unlockedSinceBoot = false
      $0.locked = true
      $0.beforeFirstUnlock = .sessionOnly
    }
    let session = try phone.session()

    #expect(try session.startService("com.example.echo")["Error"] == "PasswordProtected")
    let escrow = try session.ask("StartService", ["Service": "com.example.echo", "EscrowBag": .data([1])])
    #expect(escrow["Error"] == "MissingValue")
  }

  @Test func `goes on in clear text after the handshake, where the service is made so`() throws {
    let phone = try LonePhone(needs: ServiceNeeds(clearAfterHandshake: true))

    let service = try phone.open(try phone.session().startService("com.example.echo"))
    service.endTLS()

    // A session ticket would stand before the answer and be read as its length.
    #expect(try service.echo(["a": 1])["Got"] == ["a": 1])
  }

  @Test func `refuses a stranger at the service's own handshake`() throws {
    let phone = try LonePhone()
    let answer = try phone.session().startService("com.example.echo")
    let port = try #require(answer["Port"]?.int.flatMap { UInt16(exactly: $0) })
    let keys = try FleetKeys.shared.get()
    let stranger = try RSAKey()
    let forged: Plist = [
      "RootCertificate": .data(try Certificate.pem(.root, of: stranger, signedBy: stranger)),
      "RootPrivateKey": .data(try stranger.privatePEM()),
    ]
    let service = try #require(try phone.dial(port))

    do { try service.startTLS(forged) } catch is StreamError {}

    #expect(service.isEnded())
    #expect(keys.devicePublicKey.count > 300)
    #expect(!phone.phone.journal.entries().contains { $0.event == "service-connected" })
  }

  @Test func `gives out a bounded number of ports that nobody connects to`() throws {
    let phone = try LonePhone()
    let session = try phone.session()

    let answers = try (0..<513).map { _ in try session.startService("com.example.echo") }

    #expect(answers.prefix(512).allSatisfy { $0["Port"] != nil })
    #expect(Set(answers.compactMap { $0["Port"]?.int }).count == 512)
    #expect(answers[512]["Error"] == "ServiceLimit")
    #expect(try session.value("DeviceName") == "Phone 1")
  }

  @Test func `loses every port in a reboot`() throws {
    let phone = try LonePhone()
    let answer = try phone.session().startService("com.example.echo")

    phone.phone.reboot(away: .zero, comesBack: false)

    #expect(try phone.dial(UInt16(answer["Port"]?.int ?? 0)) == nil)
  }
}
