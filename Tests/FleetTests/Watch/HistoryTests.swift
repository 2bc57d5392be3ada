import DeviceBridge
import Fleet
import Simulation
import Testing
import Wire

/// docs/watch.md's histories, by their numbers.
@Suite struct `a history` {
  @Test(arguments: histories) func `writes its rows and no others`(_ history: History) { history.check() }

  static let histories: [History] = [
    History(
      "1: the app dies, the launch answers in time", launches: 1...1,
      """
       1:03 app-dies             |
                                 |  6:05 revived launched
      20:00 end                  |
      """),
    History(
      "2: it dies again 2 min after", launches: 2...2, revivals: 2,
      """
       1:03 app-dies             |
                                 |  6:05 revived launched
       8:05 app-dies             |
      20:00 end                  |
      """),
    History(
      "3: it dies again 20 min after", launches: 2...2, revivals: 2,
      """
       1:03 app-dies             |
                                 |  6:05 revived launched
      26:05 app-dies             |
                                 | 31:05 revived launched
      50:00 end                  |
      """),
    History(
      "4: locked and silent for hours", launches: 0...0,
      """
       1:03 lock                 |
       1:03 app-dies             |
                                 |  6:00 locked/passcode
      9:00:00 end                |
      """),
    History(
      "5: then unlocked, the door answers", launches: 0...0,
      """
       1:03 lock                 |
       1:03 app-dies             |
                                 |  6:00 locked/passcode
      2:00:03 unlock             |
      2:00:03 app-starts         |
                                 | 2:00:03 up
      2:30:00 end                |
      """),
    History(
      "6: then unlocked, the door silent", launches: 1...1,
      """
       1:03 lock                 |
       1:03 app-dies             |
                                 |  6:00 locked/passcode
      2:00:03 unlock             |
                                 | 2:05:08 revived launched
      2:30:00 end                |
      """),
    History(
      "7: the lock during the launch: refused as Locked, or taken and left waiting", phones: 2, launches: 2...2,
      """
       1:03 b0 app-dies          |
       1:03 b0 launch-locks      |
       2:03 b1 app-dies          |
       2:03 b1 launch-locks      |
                                 |  6:02 locked/passcode launched
                                 |  b1 7:12 locked/passcode launched
      50:00 end                  |
      """),
    History(
      "8: the launch refused as Locked, the lock value false", launches: 9...10,
      """
       1:03 launch-refused-locked |
       1:03 app-dies             |
                                 |  6:02 locked/passcode launched
      50:00 end                  |
      """),
    History(
      "9: the door answers between lock read and launch", launches: 0...0,
      """
       1:03 app-hangs            |
       6:10 app-starts           |
      20:00 end                  |
      """),
    History(
      "10: the door answers 11 s after the launch", launches: 1...1,
      """
       1:03 launch-answers-after 11s |
       1:03 app-dies             |
                                 |  6:12 launched-no-answer/refused launched
                                 |  6:22 up
      20:00 end                  |
      """),
    History(
      "11: launched-no-answer repeats, the same reason", launches: 11...11,
      """
       1:03 launch-never-answers |
       1:03 app-dies             |
                                 |  6:12 launched-no-answer/refused launched
      1:00:00 end                |
      """),
    History(
      "12: restart at 200 s of silence", launches: 1...1,
      """
       1:03 app-dies             |
       4:20 kill 5s              |
                                 |  9:30 revived launched
      20:00 end                  |
      """),
    History(
      "13: restart while locked", launches: 0...0,
      """
       1:03 lock                 |
       1:03 app-dies             |
                                 |  6:00 locked/passcode
      10:00 kill 5s              |
      50:00 end                  |
      """),
    History(
      "14: came back while the supervisor was down", launches: 0...0,
      """
       1:03 lock                 |
       1:03 app-dies             |
                                 |  6:00 locked/passcode
      10:00 kill 60s             |
      10:30 unlock               |
      10:30 app-starts           |
                                 | 11:00 up
      20:00 end                  |
      """),
    History(
      "15: killed between stamp and launch", launches: 0...0,
      """
       1:03 app-dies             |
       5:00 kill-after 6s        | # the sixth command is the stamp
      11:00 end                  |
      """),
    History(
      "16: killed between launch and its outcome, the door answers", launches: 1...1,
      """
       1:03 app-dies             |
       5:00 kill-after 7s        | # the seventh is the launch
      30:00 end                  |
      """),
    History(
      "16: killed between launch and its outcome, the door silent", launches: 2...2,
      """
       1:03 launch-never-answers |
       1:03 app-dies             |
       5:00 kill-after 7s        |
                                 | 11:15 launched-no-answer/refused launched
      15:00 end                  |
      """),
    History(
      "17: wall clock - 1 h, later + 2 h", launches: 1...1,
      """
       1:03 app-dies             |
       2:40 wall-back 3600s      |
       4:00 wall-forward 7200s   |
                                 |  6:05 revived launched
      30:00 wall-back 3600s      |
      31:00 wall-forward 7200s   |
      50:00 end                  |
      """),
    History(
      "18: the host sleeps 600 s, the door then answers", launches: 0...0,
      """
       1:03 app-dies             |
       3:00 sleep 600s           |
      12:58 app-starts           |
      30:00 end                  |
      """),
    History(
      "19: the same, the door stays silent", launches: 1...1,
      """
       1:03 app-dies             |
       3:00 sleep 600s           |
                                 | 16:05 revived launched
      30:00 end                  |
      """),
    History(
      "20: a flap of 5 s", launches: 0...0, flaps: 1,
      """
       1:03 flap 5s              |
      30:00 end                  |
      """),
    History(
      "21: away 14 s, back 2 s, for ever", launches: 0...0,
      (0..<60).map { "\(ScriptLine.clock(.seconds(63 + 16 * $0))) flap 14s |" }.joined(separator: "\n")
        + "\n | 1:19 unreachable/detached"),
    History(
      "22: away 1 h, back, the app dead", launches: 1...1, flaps: 0,
      """
       1:03 unplug               |
                                 |  1:18 unreachable/detached
      30:00 app-dies             |
      1:01:03 plug               |
                                 | 1:06:23 revived launched
      1:30:00 end                |
      """),
    History(
      "23: reboot, passcode", launches: 1...1,
      """
       1:03 reboot 40s           |
                                 |  1:18 unreachable/detached
                                 |  2:18 locked/before-first-unlock
      20:03 image-mounted        |
      20:03 unlock               |
                                 | 25:08 revived launched
      40:00 end                  |
      """),
    History(
      "24: lockdown hung, the door answers", launches: 0...0,
      """
       1:03 lockdown-hangs       |
      30:00 end                  |
      """),
    History(
      "25: lockdown hung, the door silent", launches: 0...0,
      """
       1:03 lockdown-hangs       |
       1:03 app-dies             |
                                 |  1:30 unreachable/lockdown-not-answering
      30:00 end                  |
      """),
    History(
      "26: mux gone, then back", phones: 3, launches: 0...0,
      """
       1:03 mux-gone             |
                                 | host 1:03 unreachable/no-usbmuxd
      10:00 mux-back             |
                                 | host 10:15 up
      30:00 end                  |
      """),
    History(
      "27: mux gone in the answer window", launches: 2...2,
      """
       1:03 launch-never-answers |
       1:03 app-dies             |
       6:06 mux-gone             |
                                 | host 6:06 unreachable/no-usbmuxd
       8:00 mux-back             |
                                 | host 8:15 up
                                 | 13:12 launched-no-answer/refused launched
      17:00 end                  |
      """),
    History(
      "28: untrusted, the door answers", launches: 0...0,
      """
       1:03 trust-stale          |
      30:00 end                  |
      """),
    History(
      "29: pending, then trusted, the door answers", launches: 0...0,
      """
       1:03 trust-pending        |
       1:03 app-dies             |
                                 |  1:30 untrusted/pending
       5:03 trust-given          |
       5:03 app-starts           |
                                 |  5:10 up
      30:00 end                  |
      """),
    History(
      "30: the USB entry leaves, the network entry of the same UDID stays", launches: 0...0,
      """
       0:33 network-on           |
       1:03 unplug               |
                                 |  1:18 unreachable/detached
      30:00 end                  |
      """),
    History(
      "31: two USB entries of one UDID", launches: 0...0, flaps: 0,
      """
       1:03 twin-on              |
       5:03 twin-off             |
      30:00 end                  |
      """),
    History(
      "32: app removed, later installed", launches: 2...2,
      """
       1:03 app-removed          |
                                 |  6:01 launch-refused/not-installed
      20:03 app-installed        |
                                 | 21:05 revived launched
      40:00 end                  |
      """),
    History(
      "34: hello half answered past the grace, and after the launch", launches: 1...1,
      """
       1:03 launch-half-answers  |
       1:03 app-half-answers     |
                                 |  6:32 launched-no-answer/bad-reply launched
      10:00 end                  |
      """),
    History(
      "35: hands running, then stopped, the app comes back", launches: 0...0,
      """
       1:03 hands-on             |
       1:03 app-dies             |
                                 |  6:00 left-alone/hands
      20:03 hands-off            |
      22:03 app-starts           |
                                 | 22:10 up
      40:00 end                  |
      """),
    History(
      "35: hands running, then stopped, the app stays dead", launches: 1...1,
      """
       1:03 hands-on             |
       1:03 app-dies             |
                                 |  6:00 left-alone/hands
      20:03 hands-off            |
                                 | 25:25 revived launched
      40:00 end                  |
      """),
    History(
      "36: paused, silent, the pause ends", launches: 1...1,
      """
       1:00 pause 1200s          |
       1:03 app-dies             |
                                 |  6:00 paused
                                 | 21:08 revived launched
      40:00 end                  |
      """),
    History(
      "37: paused and locked", launches: 0...0,
      """
       1:00 pause 1200s          |
       1:03 lock                 |
       1:03 app-dies             |
                                 |  6:00 locked/passcode
      40:00 end                  |
      """),
    History(
      "38: a run holds, ends well", launches: 0...0,
      """
       1:03 run-takes            |
                                 |  1:10 held/run
       5:00 app-dies             |
       9:00 app-starts           |
      10:03 lets-go              |
                                 | 10:10 up
      30:00 end                  |
      """),
    History(
      "39: a run is killed, the app left stopped, and undone", launches: 0...0,
      """
       1:03 run-takes            |
                                 |  1:10 held/run
       5:00 app-hangs            |
      10:03 lets-go              |
      10:33 app-starts           |
                                 | 10:40 up
      30:00 end                  |
      """),
    History(
      "39: a run is killed, the app left stopped", launches: 1...1,
      """
       1:03 run-takes            |
                                 |  1:10 held/run
       5:00 app-hangs            |
      10:03 lets-go              |
                                 | 15:36 revived launched
      30:00 end                  |
      """),
    History(
      "40: a run wants a phone that is being revived", launches: 1...1,
      """
       1:03 app-dies             |
       6:02 run-takes            |
                                 |  6:05 revived launched
       6:07 lets-go              |
      30:00 end                  |
      """),
    History(
      "41: the image gone after a reboot", launches: 1...1,
      """
       1:03 reboot 5s            |
                                 |  1:30 locked/before-first-unlock
       4:03 unlock               |
                                 |  9:10 launch-refused/no-developer-image
      20:00 end                  |
      """),
    History(
      "41: the image gone after a reboot, images.mount: auto", launches: 1...1,
      """
       1:03 reboot 5s            |
                                 |  1:30 locked/before-first-unlock
       4:03 unlock               |
                                 |  9:15 revived launched
      30:00 end                  |
      """
    ) { $0.rules.mountsImages = true },
    History(
      "42: the disk full during two changes", launches: 0...0,
      """
       1:00 disk-full            |
       2:00 unplug               |
                                 |  2:15 unreachable/detached
                                 | host 2:15 host-fault/disk
       5:00 plug                 |
                                 |  5:15 up
      10:00 disk-fine            |
                                 | host 10:20 up
      30:00 end                  |
      """),
    History(
      "43: a reload drops a body from the file", launches: 0...0,
      """
       1:03 body-dropped         |
       2:00 unplug               |
      30:00 end                  |
      """),
    History(
      "44: 17.0-17.3", launches: 1...1,
      """
       1:03 app-dies             |
                                 |  6:01 launch-refused/not-on-this-ios
      30:00 end                  |
      """
    ) { $0.ios[0] = "17.2" },
    History(
      "45: grace set shorter than spacing: silent again soon after a revival", launches: 2...2,
      """
       1:03 app-dies             |
                                 |  2:05 revived launched
       3:03 app-dies             |
                                 |  4:02 silent/refused
                                 |  7:05 revived launched
      30:00 end                  |
      """
    ) { $0.rules.grace = .seconds(60) },
    History(
      "46: hands' port accepts and never answers", launches: 0...0,
      """
       1:03 hands-odd            |
       1:03 app-dies             |
      40:00 end                  |
      """),
    History(
      "47: the app dies every two minutes for a day", launches: 195...205,
      """
       1:03 launch-dies-after 120s |
       1:03 app-dies             |
                                 |  6:05 revived launched
                                 | 20:05 revived/crash-looping launched
      24:00:00 end               |
      """),
    History(
      "48: a hub with five bodies loses power and returns", phones: 5, launches: 0...0, flaps: 0,
      """
       1:03 hub-off              |
                                 | host 1:18 unreachable/hub
      10:00 hub-on               |
                                 | host 10:00 up
      30:00 end                  |
      """),
    History(
      "49: launcher: none, the app dies, MDM brings it back after 8 min", launches: 0...0,
      """
       1:03 app-dies             |
                                 |  6:00 silent/refused
       9:03 app-starts           |
                                 |  9:10 up
      30:00 end                  |
      """
    ) { $0.rules.launches = false },
  ]
}
