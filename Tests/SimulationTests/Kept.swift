import Testing

/// The shortest histories of seeds that failed once, as `simulate` prints them, and what was wrong.
struct Kept: CustomTestStringConvertible, Sendable {
  var about: String
  var seed: UInt64
  var phones: Int
  var script: String
  var testDescription: String { about }

  static let all: [Kept] = [
    Kept(
      about: "unlocked after a reboot: the grace that began anew in a round was over in the same round", seed: 1,
      phones: 1,
      script: """
        0:01:03 b0 reboot 40s
        0:20:03 b0 image-mounted
        0:20:03 b0 unlock
        """)
  ]
}
