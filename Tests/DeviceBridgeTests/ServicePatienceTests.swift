import Testing

@testable import DeviceBridge

@Suite struct `the patience with a service that is late` {
  @Test func `is three askings within ten seconds`() {
    var patience = ServicePatience()
    var elapsed = Duration.zero
    while let pause = patience.pause(after: elapsed) { elapsed += pause }

    #expect(patience.asked == 3)
    #expect(elapsed == .seconds(7))
  }

  @Test func `ends sooner where the askings themselves take long`() {
    var patience = ServicePatience()

    let first = patience.pause(after: .seconds(4))
    let second = patience.pause(after: .seconds(4) + .seconds(2))
    let late = patience

    #expect(first == .seconds(2))
    #expect(second == nil)
    #expect(late.asked == 2)
  }

  @Test func `is none after ten seconds`() {
    var patience = ServicePatience()

    #expect(patience.pause(after: .seconds(9)) == nil)
  }
}

@Suite struct `a version of iOS` {
  @Test(arguments: [
    ("16.7.2", false), ("17.0", false), ("17.3.1", false), ("17.4", true), ("17.10", true), ("26", true),
  ])
  func `has a tunnel over the cable from 17.4 on`(_ version: String, _ hasTunnel: Bool) throws {
    #expect(try #require(SystemVersion(version)).hasTunnel == hasTunnel)
  }
}
