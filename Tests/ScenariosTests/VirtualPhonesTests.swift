import Fleet
import Scenarios
import Testing

@Suite struct `scenarios on virtual phones` {
  @Test(arguments: ["camera-busy", "backgrounded"])
  func `pass on every iOS there is, phones side by side`(_ name: String) async throws {
    let bench = try Bench(["15.8", "16.7", "17.6", "18.5", "26.1"], scale: 4)

    let (result, _) = await bench.run([try Bench.shipped(name)], on: try await bench.bodies())

    #expect(result.summary == "5 of 5 judged, on 5 phones: 5 passed")
    #expect(result.exit == 0)
  }
}
