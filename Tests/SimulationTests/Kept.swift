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
      about: "missed while it was held, and back for a moment when the daemon was", seed: 100_019, phones: 10,
      script: """
        0:01:04.029 b9 person-takes
        1:19:05.471 b9 unplug
        1:43:12.341 b4 mux-silent
        1:43:19.162 b9 sleep 6251730ms
        2:07:33.114 b9 plug
        2:09:24.053 b4 mux-back
        2:46:38.508 b5 hub-off
        2:58:55.619 b9 lets-go
        """),
    Kept(
      about: "refused as untrusted right after the facts had said trusted: trusting it changed nothing", seed: 500_019,
      phones: 5,
      script: """
        0:01:00.770 b4 app-dies
        0:01:23.381 b4 launch-half-answers
        0:06:43.286 b8 mux-silent
        0:08:40.715 b8 mux-back
        0:30:42.952 b4 launch-refused-untrusted
        0:31:46.107 b4 launch-works
        0:40:35.225 b4 end
        """),
    Kept(
      about: "the image gone between the reading of the facts and the launch", seed: 500_014, phones: 2,
      script: """
        0:01:08.575 b1 reboot 28114ms
        0:01:43.134 b1 unlock
        0:18:48.903 b1 lock
        0:28:24.791 b1 image-mounted
        0:34:56.474 b5 disk-dead
        0:43:05.271 b1 unlock
        0:54:24.833 b1 image-gone
        0:54:28.753 b5 disk-fine
        """),
    Kept(
      about: "an answer after its time ended the silence before the row that says so", seed: 105_019, phones: 8,
      script: """
        0:01:04.517 b7 app-dies
        0:04:49.581 b7 lock
        0:05:48.492 b7 unlock
        0:11:05.932 b7 app-dies
        0:14:51.821 b7 launch-answers-after 25s
        0:16:04.907 b0 stall 374131ms
        """),
    Kept(
      about: "installed shortly after a person's revive: the facts were read while the spacing ran, and not again",
      seed: 103_017,
      phones: 10,
      script: """
        0:01:02.812 b9 lockdown-hangs
        0:04:43.444 b9 app-removed
        0:26:27.136 b9 lockdown-works
        0:32:05.453 b9 revive
        0:33:35.250 b9 app-installed
        """),
    Kept(
      about: "missed while a launch was being prepared", seed: 116_003, phones: 5,
      script: """
        0:01:08.744 b4 app-hangs
        0:03:47.415 b2 host-reboot 63980ms
        0:10:04.184 b4 flap 11993ms
        0:10:29.934 b4 flap 3356ms
        """),
    Kept(
      about: "a session that the host's sleep overtook had said that nobody has unlocked it yet", seed: 107_007,
      phones: 2,
      script: """
        0:01:00.005 b1 lockdown-hangs
        0:01:19.818 b1 flap 27080ms
        1:08:41.844 b1 app-dies
        1:11:19.820 b3 sleep 114999ms
        1:12:09.617 b1 reboot 69964ms
        1:13:31.163 b1 unlock
        1:17:33.323 b1 lockdown-works
        """),
    Kept(
      about: "its service missing, and no time left to ask again: silent, though it was launched in this silence",
      seed: 114_002, phones: 7,
      script: """
        0:01:08.201 b6 launch-half-answers
        0:04:03.906 b6 app-dies
        0:30:24.366 b6 revive
        0:32:47.933 b6 app-dies
        0:40:29.338 b6 image-gone
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
