import Testing
import Transport
import Wire

@testable import VirtualPhone

@Suite struct `notification_proxy` {
  private static let name = "com.apple.mobile.notification_proxy"
  private static let lockState = "com.apple.springboard.lockstate"

  private func observe(_ names: [String], on proxy: ServiceClient, of phone: TestPhone) throws {
    for name in names { try proxy.send(["Command": "ObserveNotification", "Name": .string(name)]) }
    // A name of our own, posted and relayed, shows that what was sent before it has been read.
    try proxy.send(["Command": "ObserveNotification", "Name": "test.ready"])
    try proxy.send(["Command": "PostNotification", "Name": "test.ready"])
    #expect(try proxy.receive()?["Name"] == "test.ready")
  }

  @Test func `relays what the host observes, and nothing else`() throws {
    let phone = try TestPhone()
    let proxy = try phone.service(Self.name)
    try observe([Self.lockState], on: proxy, of: phone)

    phone.phone.notifications.post("com.apple.springboard.hasBlankedScreen")
    try phone.perform("lock")
    try phone.perform("unlock")

    for _ in 0..<2 {
      #expect(try proxy.receive() == ["Command": "RelayNotification", "Name": .string(Self.lockState)])
    }
  }

  @Test func `tells every host that observes a name`() throws {
    let phone = try TestPhone()
    let proxies = try [phone.service(Self.name), phone.service("com.apple.mobile.insecure_notification_proxy")]
    for proxy in proxies { try observe(["a.b"], on: proxy, of: phone) }

    phone.phone.notifications.post("a.b")

    // The second host's own test name reached the first one too.
    #expect(try proxies[0].receive()?["Name"] == "test.ready")
    for proxy in proxies { #expect(try proxy.receive()?["Name"] == "a.b") }
  }

  @Test func `keeps the order of many names posted at once`() throws {
    let phone = try TestPhone()
    let proxy = try phone.service(Self.name)
    let names = (0..<100).map { "name.\($0)" }
    try observe(names, on: proxy, of: phone)

    for name in names { phone.phone.notifications.post(name) }

    for name in names { #expect(try proxy.receive()?["Name"] == .string(name)) }
  }

  @Test func `ends with ProxyDeath when the host shuts it down`() throws {
    let phone = try TestPhone()
    let proxy = try phone.service(Self.name)

    #expect(try proxy.ask(["Command": "Shutdown"]) == ["Command": "ProxyDeath"])
    #expect(proxy.ends())
  }

  @Test func `forgets a host that has gone`() throws {
    let phone = try TestPhone()
    let proxy = try phone.service(Self.name)
    try observe(["a.b"], on: proxy, of: phone)

    proxy.socket.close()
    #expect(proxy.worker.join(by: .after(.seconds(10))))
    phone.phone.notifications.post("a.b")

    #expect(phone.phone.notifications.observerCount == 0)
  }

  @Test func `never makes whoever posts wait for a host that reads nothing`() throws {
    let phone = try TestPhone()
    let proxy = try phone.service(Self.name)
    try observe(["a.b"], on: proxy, of: phone)

    for _ in 0..<(2 * OutBox.limit) { phone.phone.notifications.post("a.b") }

    // Its box ran over, so it lost its connection.
    #expect(proxy.worker.join(by: .after(.seconds(10))))
  }

  @Test func `drops a host that talks nonsense`() throws {
    let phone = try TestPhone()
    let proxy = try phone.service(Self.name)

    try proxy.socket.write([0xFF, 0xFF, 0xFF, 0xFF, 0x00], by: .after(.seconds(5)))

    #expect(proxy.ends())
  }
}
