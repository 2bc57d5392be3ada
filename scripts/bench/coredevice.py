#!/usr/bin/env python3
"""Launching over the tunnel of iOS 17.4 and later: fleetctl against pymobiledevice3's userspace mode.

    scripts/bench/coredevice.py FLEETCTL TUNNELBENCH [PYMOBILEDEVICE3]

Cold launches are whole processes that have no tunnel yet, in pairs on the same virtual phone. fleetctl goes on to watch the
app for a second before it calls a launch accepted, which the other side does not; so the time is taken until the phone
launches, as its journal tells, and the whole process stands beside it. What a process sees that keeps its tunnels open is measured by
TUNNELBENCH. Prints one JSON object a line: what, result, wanted, holds, load.
"""

import datetime
import json
import os
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Tests", "crosscheck"))

from fleet import Fleet  # noqa: E402

IOS, BUNDLE = "18.5", "com.example.kiosk"
PAIRS, TUNNELS, BULK = 5, 64, 256 << 20


def main(fleetctl, tunnelbench, pymobiledevice3=""):
    for figure in (cold, warm, many, bulk):
        figure(fleetctl, tunnelbench, pymobiledevice3)


def row(what, result, wanted, holds, load=""):
    print(json.dumps({"what": what, "result": result, "wanted": wanted, "holds": holds, "load": load}), flush=True)


def launches(fleet):
    """When the phones launched, in seconds of the clock on the wall."""
    stamps = [entry["at"] for entry in fleet.journal("coredevice-launch")]
    return [datetime.datetime.fromisoformat(stamp.replace("Z", "+00:00")).timestamp() for stamp in stamps]


def process(command, environment, fleet):
    """Seconds until the phone launched, wall and CPU seconds and peak MiB of the whole process."""
    before, begun, start = len(launches(fleet)), time.time(), time.monotonic()
    child = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    stamps = launches(fleet)
    if child.returncode or len(stamps) != before + 1:
        sys.exit(f"{' '.join(command)} ended with {child.returncode} after {len(stamps) - before} launches: {said}")
    return {"launched": stamps[-1] - begun, "wall": wall, "cpu": usage.ru_utime + usage.ru_stime,
            "mib": usage.ru_maxrss / 1024}


def others(fleet, phone, **more):
    """What pymobiledevice3 wants to know: a bare path is a UNIX socket for it."""
    address = fleet.environment["USBMUXD_SOCKET_ADDRESS"].removeprefix("UNIX:")
    return fleet.environment | {"USBMUXD_SOCKET_ADDRESS": address, "PYMOBILEDEVICE3_UDID": phone["udid"], **more}


def median(figures, key):
    return statistics.median(figure[key] for figure in figures)


def cold(fleetctl, _, pymobiledevice3):
    with Fleet(fleetctl, ios=[IOS], time_scale=1) as fleet:
        phone = fleet.phones()[0]
        home = f"{fleet.folder}/fleet.yaml"
        with open(home, "w") as file:
            file.write(f"version: 1\napp: {{bundle: {BUNDLE}}}\n")
        command = [fleetctl, "launch", "--config", home, phone["udid"]]
        them = [pymobiledevice3, "--no-color", "developer", "core-device", "launch-application", BUNDLE, "--userspace"]
        if pymobiledevice3:
            # What the first run of an interpreter leaves behind is not counted.
            process(them, others(fleet, phone), fleet)
        ours, theirs = [], []
        for _ in range(PAIRS):
            ours.append(process(command, fleet.environment, fleet))
            if pymobiledevice3:
                theirs.append(process(them, others(fleet, phone), fleet))
    sessions = "no tunnel yet"
    if not theirs:
        row("cold launch, to the launch on the phone", f"{median(ours, 'launched') * 1000:.0f} ms, "
            f"{median(ours, 'mib'):.1f} MiB; pymobiledevice3 is not installed", "at least 12 times faster", None, sessions)
        return
    faster = statistics.median(other["launched"] / own["launched"] for own, other in zip(ours, theirs))
    row("cold launch from iOS 17.4 on, to the launch on the phone, against pymobiledevice3's in userspace mode",
        f"{median(ours, 'launched') * 1000:.0f} ms against {median(theirs, 'launched') * 1000:.0f} ms, {faster:.0f} times faster",
        "at least 12 times", faster >= 12, sessions)
    row("the same as a whole process", f"{median(ours, 'wall'):.2f} s, of which 1 s watches the app live, against "
        f"{median(theirs, 'wall'):.2f} s; {median(ours, 'cpu'):.2f} CPU s against {median(theirs, 'cpu'):.2f}",
        "for comparison", None, sessions)
    share = median(ours, "mib") / median(theirs, "mib")
    row("its memory", f"{median(ours, 'mib'):.1f} MiB against {median(theirs, 'mib'):.1f} MiB, {share:.2f} of it",
        "at most a third", share <= 1 / 3)


def measure(tunnelbench, fleet, *figures, **more):
    address = fleet.environment["USBMUXD_SOCKET_ADDRESS"]
    return subprocess.Popen([tunnelbench, address, BUNDLE, *figures], env=fleet.environment, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, text=True, **more)


def warm(fleetctl, tunnelbench, _):
    with Fleet(fleetctl, ios=[IOS], time_scale=1) as fleet, measure(tunnelbench, fleet, "warm") as bench:
        figure = json.loads(bench.stdout.readline())
        took = statistics.median(figure["ms"])
        row("launch over an open tunnel, without the second in which the app is watched", f"{took:.1f} ms", "under 20 ms",
            took < 20)


def many(fleetctl, tunnelbench, _):
    with Fleet(fleetctl, ios=[IOS, "26.1"], phones=TUNNELS, time_scale=1) as fleet:
        with measure(tunnelbench, fleet, "all") as bench:
            figure = json.loads(bench.stdout.readline())
            tunnels = len(fleet.journal("tunnel-opened")) - len(fleet.journal("tunnel-closed"))
            bench.stdin.close()
            each = (figure["kib_after"] - figure["kib_before"]) / TUNNELS
            row(f"{TUNNELS} launches at once in one process, each through a tunnel of its own",
                f"{figure['seconds']:.2f} s, {tunnels} tunnels open afterwards", "under 10 s, all open",
                figure["seconds"] < 10 and tunnels == TUNNELS, "1 s of it watches the apps live")
            row("memory of a tunnel, with everything its phone takes in the process", f"{each:.0f} KiB", "under 2 MiB",
                each < 2048)


def bulk(fleetctl, tunnelbench, pymobiledevice3):
    with Fleet(fleetctl, ios=[IOS], time_scale=1) as fleet:
        phone = fleet.phones()[0]
        rates = []
        fleet.act(phone["udid"], "bulk", bytes=BULK)
        for _ in range(3):
            with measure(tunnelbench, fleet, "bulk") as bench:
                figure = json.loads(bench.stdout.readline())
                if figure["bytes"] != BULK:
                    sys.exit(f"the bulk port sent {figure['bytes']} of {BULK} bytes")
                rates.append(BULK / figure["seconds"] / (1 << 20))
        ours = statistics.median(rates)
        row("bulk through one tunnel, phone to host", f"{ours:.0f} MiB/s", "at least 100 MiB/s", ours >= 100)
        if not pymobiledevice3:
            return
        python = os.path.join(os.path.dirname(pymobiledevice3), "python")
        script = os.path.join(os.path.dirname(__file__), "pymobiledevice3_bulk.py")
        fleet.act(phone["udid"], "bulk", bytes=BULK // 8)
        done = subprocess.run([python, script, phone["udid"]], env=others(fleet, phone), stdout=subprocess.PIPE, text=True,
                              check=True)
        figure = json.loads(done.stdout.splitlines()[-1])
        theirs = figure["bytes"] / figure["seconds"] / (1 << 20)
        row("the same against pymobiledevice3's userspace mode", f"{ours:.0f} MiB/s against {theirs:.1f} MiB/s, "
            f"{ours / theirs:.1f} times", "at least 5 times", ours / theirs >= 5)


if __name__ == "__main__":
    main(*sys.argv[1:4])
