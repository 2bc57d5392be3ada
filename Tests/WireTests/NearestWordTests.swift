import Testing
import Wire

@Suite struct `the word that was meant` {
  @Test(arguments: [
    ("expct", "expect"), ("expect:", "expect"), ("Retry-Within", "retry-within"), ("retry_within", "retry-within"),
    ("udi", "udid"), ("stpes", "steps"), ("retry", "retry-within"),
  ])
  func `is the nearest known one`(_ typed: String, _ meant: String) {
    #expect(NearestWord.to(typed, among: ["expect", "retry-within", "udid", "steps"]) == meant)
  }

  @Test(arguments: ["camera", "", "x", "re"])
  func `is none where nothing is near`(_ typed: String) {
    #expect(NearestWord.to(typed, among: ["expect", "retry-within", "steps", "udid"]) == nil)
  }
}
