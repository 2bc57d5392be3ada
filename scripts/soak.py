#!/usr/bin/env python3
"""Hours of a supervisor among faults: it ends with the descriptors, threads and memory of its fifth minute.

usage: soak.py PATH-OF-FLEETCTL [HOURS [SEED]]

Twenty virtual phones of five versions; every other second something happens to one of them or to the mux, and is over some
seconds later. Time runs twenty times as fast for phones and supervisor alike. After five minutes, and at the end, all
is well for a while, and what the process holds is counted. Ends with 1 where it holds more at the end, where a phone is not up
again, or where the numbers of the record's rows have a gap.
"""

import contextlib
import json
import os
import random
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Tests", "crosscheck"))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench"))

from fleet import Fleet, eventually  # noqa: E402
from supervise import IOS, held, memory_mib, running  # noqa: E402

PHONES, SCALE, FIRST = 20, 20, 300
GOOD = {"up", "revived"}
# The last refusal of each action: an action that is always refused would test nothing.
refusals = {}

# What happens to a phone, and what ends it.
FAULTS = [
    ("detach", "attach"), ("reboot image=mounted", "unlock"), ("lock", "unlock"), ("kill-app", None), ("suspend", "resume"),
    ("crash-app", None), ("background", "foreground"), ("kill-listener", "open-listener"), ("hands-on", "hands-off"),
    ("hands-on mode=mute", "hands-off"), ("connect-delay", "connect-delay clear=yes"),
    ("lockdown-fault kind=hang", "lockdown-fault clear=yes"), ("lockdown-fault kind=garbage", "lockdown-fault clear=yes"),
    ("tls-fault kind=hang", "tls-fault clear=yes"), ("launch-fault kind=internal", "launch-fault kind=none"),
    ("cut after=100 kind=reset", "cut clear=yes"), ("tunnel-now kind=drop", None), ("unmount", "mount"),
    *[(f"door-fault kind={kind}", "door-fault kind=none") for kind in
      ("empty", "half", "silent", "reset", "not-http", "drip", "endless")],
    ("mux-drop", None), ("mux-silent on=yes", "mux-silent on=no"), ("mux-quit for=20s", None),
]


def do(fleet, phone, action):
    """An action, which a phone that is just away may refuse."""
    name, *values = action.split()
    answer = fleet.control({"do": name, "phone": str(phone), "values": dict(value.split("=", 1) for value in values)})
    if "ok" not in answer:
        refusals[name] = answer


def faults(fleet, seconds, chance):
    """Things happen for so long; then all of it is over."""
    heals, end = [], time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        phone = chance.randint(1, PHONES)
        action, heal = chance.choice(FAULTS)
        do(fleet, phone, action)
        count += 1
        if heal:
            heals.append((time.monotonic() + chance.uniform(1, 40), phone, heal))
        for due in [entry for entry in heals if entry[0] <= time.monotonic()]:
            heals.remove(due)
            do(fleet, *due[1:])
        time.sleep(chance.uniform(0.5, 3))
    for _, phone, heal in heals:
        do(fleet, phone, heal)
    return count


def rows(fleetctl, fleet, environment, configuration):
    return [json.loads(line) for line in fleet.run(fleetctl, "outcomes", "--json", "--limit", "1000000", "--config", configuration,
                                                   environment=environment).splitlines()]


def main(fleetctl, hours="1", seed="1"):
    fleetctl, chance = os.path.abspath(fleetctl), random.Random(int(seed))
    with tempfile.TemporaryDirectory() as folder, Fleet(fleetctl, ios=IOS, phones=PHONES, time_scale=SCALE) as fleet:
        configuration = os.path.join(folder, "fleet.yaml")
        with open(configuration, "w") as file:
            file.write("version: 1\napp: {bundle: com.example.kiosk}\nsupervise: {listen: null}\n")
        own = {"STATE_DIRECTORY": f"{folder}/state", "FLEETCTL_LOCK_FOLDER": f"{folder}/locks"}
        os.mkdir(own["STATE_DIRECTORY"])
        for phone in range(1, PHONES + 1):
            do(fleet, phone, "mount")
        command = [fleetctl, "supervise", "--config", configuration, "--time-scale", str(SCALE)]
        with running(command, fleet.environment | own) as process:
            def well():
                latest = {row["udid"]: row["outcome"] for row in rows(fleetctl, fleet, own, configuration)}
                latest.pop(None, None)
                return len(latest) == PHONES and all(outcome in GOOD for outcome in latest.values())

            def count(what):
                """What it holds once all phones are well, and have been for half a minute: ten of theirs."""
                with contextlib.suppress(AssertionError):
                    eventually(well, 120)
                time.sleep(30)
                figures = {"at": what, "well": well(), "descriptors": held(process.pid)[0],
                           "threads": held(process.pid)[1], "memory_mib": round(memory_mib(process.pid), 1)}
                print(json.dumps(figures), flush=True)
                return figures

            happened = faults(fleet, FIRST, chance)
            early = count("the fifth minute")
            happened += faults(fleet, max(float(hours) * 3600 - FIRST, 0), chance)
            late = count("the end")
            numbers = [row["seq"] for row in rows(fleetctl, fleet, own, configuration)]
            gapless = sorted(numbers) == list(range(1, len(numbers) + 1))
            alive = process.poll() is None
        flat = late["descriptors"] <= early["descriptors"] and late["threads"] <= early["threads"] and \
            late["memory_mib"] <= early["memory_mib"] * 1.1 + 2
        holds = flat and gapless and alive and early["well"] and late["well"]
        print(json.dumps({"hours": float(hours), "seed": int(seed), "faults": happened, "rows": len(numbers),
                          "gapless": gapless, "alive": alive, "flat": flat, "refusals": refusals, "holds": holds}))
        sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main(*sys.argv[1:4])
