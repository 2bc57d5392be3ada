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
        """),
    Kept(
      about: "a round that began while paused and ended after the pause was taken for quiet for ever", seed: 1,
      phones: 164,
      script: """
        0:01:01.085 b142 flap 1910ms
        6:47:37.612 b192 sleep 1391866ms
        10:38:03.350 b142 lockdown-hangs
        10:41:10.205 b142 app-dies
        12:12:19.517 b113 kill-after 2s
        12:12:34.012 b142 lockdown-works
        17:46:57.634 b163 lock-slow
        18:34:11.990 b163 app-removed
        18:42:44.828 b163 app-installed
        19:55:05.878 b163 lock-readable
        21:14:31.729 b163 pause 9815820ms
        22:46:25.048 b163 app-dies
        30:20:27.402 b163 end
        """),
    Kept(
      about: "the lock overtook one launch after another that was not answered", seed: 5, phones: 2,
      script: """
        0:01:00.182 b1 launch-hangs
        0:44:01.544 b1 app-hangs
        1:03:23.456 b1 launch-locks
        1:04:10.444 b1 app-dies
        1:06:08.703 b1 unlock
        """),
    Kept(
      about: "back while it was held, and then the daemon went", seed: 7, phones: 10,
      script: """
        0:01:03.110 b9 flap 29841ms
        0:01:18.137 b9 run-takes
        0:06:51.316 b4 mux-gone
        0:15:24.365 b9 lets-go
        0:52:01.635 b4 mux-back
        """),
    Kept(
      about: "a supervisor that got no time after its start took its phones for long gone", seed: 2, phones: 2,
      script: """
        0:01:05.089 b1 kill 486065ms
        0:07:15.425 b1 stall 378306ms
        0:13:38.387 b1 flap 31976ms
        """),
    Kept(
      about: "paused while a launch was being prepared", seed: 77_015, phones: 2,
      script: """
        0:01:01.573 b1 app-hangs
        0:01:29.175 b7 mux-gone
        0:01:33.035 b7 mux-back
        0:06:46.793 b1 pause 1134543ms
        """),
    Kept(
      about: "removed between the reading of the facts and the launch", seed: 77_003, phones: 4,
      script: """
        0:01:04.785 b3 app-hangs
        0:01:12.475 b3 hands-on
        0:13:54.424 b3 kill 841ms
        0:20:30.114 b3 hands-off
        0:21:46.133 b3 app-removed
        """),
    Kept(
      about: "a probe that the host's sleep overtook had found no descriptors: nobody had looked", seed: 77_006,
      phones: 1,
      script: """
        0:01:03.030 b0 app-dies
        0:22:34.294 b0 app-hangs
        0:23:12.405 b2 sleep 114363ms
        0:23:13.431 b4 descriptors-out
        0:25:33.051 b4 descriptors-back
        """),
    Kept(
      about: "a set wall clock over a boot of the host's", seed: 77_000, phones: 7,
      script: """
        0:01:09.087 b6 app-dies
        0:23:16.863 b6 app-removed
        1:30:44.096 b0 host-reboot 250428ms
        1:33:43.392 b2 wall-back 7568935ms
        2:09:21.157 b6 app-installed
        """),
    Kept(
      about: "away in a stretch in which the supervisor got no time", seed: 6, phones: 1,
      script: """
        0:01:07.273 b0 flap 36554ms
        0:01:11.769 b4 stall 173190ms
        0:01:43.096 b0 app-dies
        """),
    Kept(
      about: "TLS broke under a launch that was taken all the same", seed: 1_011, phones: 11,
      script: """
        0:01:04.167 b1 lock
        0:23:11.542 b1 app-dies
        1:05:25.910 b1 unlock
        1:10:28.016 b1 tls-fails
        """),
    Kept(
      about: "a mount of which a full disk kept the record from knowing", seed: 1_008, phones: 9,
      script: """
        0:01:03.057 b8 disk-full
        0:16:17.381 b8 image-gone
        0:16:33.557 b8 app-dies
        0:27:03.619 b6 kill-after 12s
        4:59:21.019 b8 app-dies
        5:03:16.621 b8 image-gone
        """),
  ]
}
