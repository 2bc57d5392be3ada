import DeviceBridge
import Testing
import Transport
import VirtualPhone
import Wire

@Suite(.serialized) struct `a kept connection to the door` {
  private func hello() -> DoorRequest {
    var request = DoorRequest(port: 8127, method: "GET", target: "/hello", deadline: .after(.seconds(10)))
    request.keepsConnection = true
    return request
  }

  @Test func `H36: carries thousands of calls, and no descriptor more than the first ones`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()
    defer { lane.close() }
    for _ in 0..<10 { _ = await lane.request(hello()) }
    let before = Resources.descriptors
    let connects = bench.connects(to: 8127)

    var answers = 0
    for _ in 0..<2_000 where await lane.request(hello()).response?.status == 200 { answers += 1 }

    #expect(answers == 2_000)
    #expect(abs(Resources.descriptors - before) <= 5)
    #expect(bench.connects(to: 8127) - connects <= 2)
  }

  @Test func `is made anew when the app was started again meanwhile`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()
    defer { lane.close() }
    #expect(await lane.request(hello()).response?.status == 200)
    try bench.do("kill-app")
    guard case .refused = await lane.request(hello()).ending else {
      Issue.record("a dead app's door is refused")
      return
    }
    try bench.do("launch-app")

    #expect(await lane.request(hello()).response?.status == 200)
  }

  @Test func `of an app that is stopped is silent, and not used again`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()
    defer { lane.close() }
    _ = await lane.request(hello())
    try bench.do("suspend")
    var request = hello()
    request.deadline = .after(.milliseconds(200))

    guard case .silent(received: 0, _) = await lane.request(request).ending else {
      Issue.record("a stopped app accepts and never answers")
      return
    }
    try bench.do("resume")
    #expect(await lane.request(hello()).response?.status == 200)
  }

  @Test func `is not kept for a request that does something`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()
    defer { lane.close() }
    let connects = bench.connects(to: 8127)
    for _ in 0..<3 {
      var request = hello()
      request.method = "POST"
      _ = await lane.request(request)
    }

    #expect(bench.connects(to: 8127) - connects == 3)
  }

  @Test func `keeps no more of a body than it was asked to`() async throws {
    let bench = try Bench("16.7")
    let lane = try await bench.lane()
    defer { lane.close() }
    var request = hello()
    request.keptBody = 5

    #expect(await lane.request(request).response?.body.count == 5)
  }
}
