import Testing
import Transport
import Wire

@testable import Fleet

@Suite struct `who may ask the page` {
  private func request(_ host: String?, _ authorization: String? = nil, local: String? = nil) throws -> PageRequest {
    var request = try #require(PageRequest(method: "GET", target: Array("/".utf8)))
    request.host = host
    request.authorization = authorization
    request.local = local
    return request
  }

  @Test(arguments: [
    "localhost", "LOCALHOST:8087", "127.0.0.1:9000", "[::1]", "[::1]:8087", "localhost.", "fleet.example:443",
    "192.168.1.5:8087",
  ])
  func `is whoever calls it by a name of its own`(_ host: String) throws {
    let access = PageAccess(hosts: ["fleet.example"])

    #expect(access.refusal(of: try request(host, local: "192.168.1.5")) == nil)
  }

  @Test(arguments: [
    nil, "", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "evil.example:8087", "[::1",
    "localhost:", "localhost:80x", "192.168.1.6", "fleet.example@evil.example", "fleet.example, evil.example", ":80",
  ])
  func `is nobody who calls it by another`(_ host: String?) throws {
    let access = PageAccess(hosts: ["fleet.example"])

    let refusal = access.refusal(of: try request(host, local: "192.168.1.5"))

    // A colon without a port is a port left out, as the grammar has it.
    #expect(host == "localhost:" || refusal?.status == 421)
  }

  @Test(arguments: [
    "Bearer right-token", "bearer  right-token", "Basic YW55OnJpZ2h0LXRva2Vu", "basic OnJpZ2h0LXRva2Vu",
  ])
  func `is whoever sends the token, as a bearer or as anybody's password`(_ field: String) throws {
    let access = PageAccess(token: Secret("right-token"))

    #expect(access.refusal(of: try request("localhost", field)) == nil)
  }

  @Test(arguments: [
    nil, "", "Bearer", "Bearer ", "Bearer right-toke", "Bearer right-token2", "right-token", "Basic right-token",
    "Basic cmlnaHQtdG9rZW4=", "Digest right-token", "Basic ////", "Bearer RIGHT-TOKEN",
  ])
  func `is nobody else`(_ field: String?) throws {
    let access = PageAccess(token: Secret("right-token"))

    let refusal = try #require(access.refusal(of: try request("localhost", field)))

    #expect(refusal.status == 401)
    #expect(refusal.headers["WWW-Authenticate"] == "Basic realm=\"fleetctl\", charset=\"UTF-8\"")
    #expect(!String(decoding: refusal.body, as: UTF8.self).contains("right"))
  }

  @Test(arguments: [
    ("127.0.0.1:8087", true), ("localhost:0", true), ("[::1]:8087", true), ("0.0.0.0:8087", false), ("[::]:80", false),
    ("192.168.1.5:8087", false),
  ])
  func `reaches it at a numeric address`(_ text: String, _ isLoopback: Bool) throws {
    #expect(try SocketAddress.page(text).isLoopback == isLoopback)
  }

  /// Each would be bound to all addresses of this machine, since no number can be made of it.
  @Test(arguments: [
    "fleet.example:8087", "127.evil.example:8087", "*:8087", ":8087", "::1:8087", "[127.0.0.1]:8087", "127.0.0.1",
    "127.1:8087", "localhost:99999", "[::1:8087",
  ])
  func `never reaches it at a name that would have to be looked up`(_ text: String) {
    #expect(throws: PageTrouble.address(text)) { try SocketAddress.page(text) }
  }
}
