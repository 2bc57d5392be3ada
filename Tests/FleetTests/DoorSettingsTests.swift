import Fleet
import Testing

@Suite struct `a door request` {
  private static let renamed: DoorSettings = {
    var door = DoorSettings()
    door.forms[.hello] = RequestLine(method: "GET", target: "/api/v2/ping")
    door.forms[.photo] = RequestLine(method: "PUT", target: "/cameras/{camera}/still")
    door.forms[.clip] = RequestLine(method: "POST", target: "/movie?len={seconds}&cam={camera}&raw=1")
    return door
  }()

  @Test(arguments: [
    ("GET /hello", "GET /hello", DoorRow.hello, Duration.seconds(10)),
    ("GET /status", "GET /status", .status, .seconds(10)),
    ("POST /photo?camera=front", "POST /photo?camera=front", .photo, .seconds(20)),
    ("POST /clip?camera=back&seconds=4", "POST /clip?camera=back&seconds=4", .clip, .seconds(24)),
    ("POST /clip?seconds=2.5&camera=back", "POST /clip?camera=back&seconds=2.5", .clip, .seconds(22.5)),
    ("POST /photo?camera=front&by=me", "POST /photo?camera=front&by=me", .photo, .seconds(20)),
    ("POST /photo", "POST /photo", .photo, .seconds(20)),
    ("POST /clip?camera=x&seconds=1e99", "POST /clip?camera=x&seconds=1e99", .clip, .seconds(3_620)),
  ])
  func `that is a row of the door's table keeps its usual form and clock`(
    _ typed: String, _ sent: String, _ row: DoorRow, _ limit: Duration
  ) throws {
    let call = DoorSettings().call(try #require(RequestLine(typed)))

    #expect(call.line.description == sent)
    #expect(call.row == row)
    #expect(call.limit == limit)
  }

  @Test(arguments: [
    ("GET /hello", "GET /api/v2/ping"), ("POST /photo?camera=front", "PUT /cameras/front/still"),
    ("POST /photo?camera=front&by=me", "PUT /cameras/front/still?by=me"),
    ("POST /clip?camera=back&seconds=4", "POST /movie?len=4&cam=back&raw=1"),
    ("POST /clip?camera=back", "POST /movie?cam=back&raw=1"), ("GET /status", "GET /status"),
  ])
  func `goes out in the form that fleet.yaml gives it`(_ typed: String, _ sent: String) throws {
    let call = Self.renamed.call(try #require(RequestLine(typed)))

    #expect(call.line.description == sent)
  }

  @Test(arguments: ["POST /hello", "GET /hello/", "GET /other?camera=front", "DELETE /photo", "GET /api/v2/ping"])
  func `that is no row goes out as it is`(_ typed: String) throws {
    let call = Self.renamed.call(try #require(RequestLine(typed)))

    #expect(call.line.description == typed)
    #expect(call.row == nil)
    #expect(call.limit == .seconds(10))
  }

  @Test(arguments: ["", "GET", "/hello", "get /hello", "GET hello", "GET /a b", "GET  /a", "GET /a\nX: y", "G=T /a"])
  func `is refused where it is no request line`(_ text: String) {
    #expect(RequestLine(text) == nil)
  }
}

@Suite struct `the token of a request` {
  @Test(arguments: ["hunter2", "wrong", nil] as [String?])
  func `is the configured one, none, or one that is neither it nor made of it`(_ configured: String?) {
    let secret = configured.map { Secret($0) }

    #expect(DoorToken.configured.value(secret) == configured)
    #expect(DoorToken.none.value(secret) == nil)
    let wrong = DoorToken.wrong.value(secret)
    #expect(wrong != nil && wrong != configured)
    #expect(wrong == "wrong" || configured == "wrong")
  }
}
