"""Measures scenarios: how fast files are read, and what a run costs beside the phones' own waiting.

usage: scenarios.py PATH-OF-FLEETCTL [PHONES,PHONES…]

Prints one JSON object a figure. The phones are another process, whose CPU seconds stand beside ours; both share one machine.

A phone's *own waiting* is what the whole set takes on it while it is alone: the sum of its scenarios' times. A run of many
phones is held against the longest of those.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Tests", "crosscheck"))

from fleet import Fleet  # noqa: E402

IOS = ["16.7", "18.5"]
SCENARIOS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scenarios")

# How the lab of virtual phones brings a state about, as `run --virtual` has it; what is not here is the bridge's.
MEANS = {
    "locked": "lock", "unlocked": "unlock", "in-background": "background", "listener-dead": "kill-listener",
    "camera-stuck": "stick-camera", "camera-granted": "grant", "camera-denied": "revoke", "app-installed": "install-app",
    "rebooted": "reboot image=mounted", "before-first-unlock": "reboot image=mounted",
}
UNDO = {"camera-stuck": "unstick-camera"}

PLAIN = """scenario: plain-{number}
about: One of a thousand, as long as such files are.
tags: [release, nightly]
needs: [unlocked, camera-granted]
steps:
  - arrange: in-front
  - start: clip
    request: POST /clip?camera=back&seconds=4
  - until: {{request: GET /status, expect: {{json: {{capturing: back}}}}}}
    within: 3s
  - request: POST /photo?camera=front
    expect: {{status: 423, json: {{error: {{contains: busy}}}}, within: 1s}}
  - finish: clip
    expect: {{status: 200, type: video/quicktime}}
recovers:
  - request: POST /photo?camera=front
    expect: {{status: 200, type: image/jpeg}}
    retry-within: 10s
"""


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def parsing(fleetctl, count=1_000):
    """The best of three: the others are the machine's other work."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            with open(os.path.join(folder, f"plain-{number}.yaml"), "w") as file:
                file.write(PLAIN.format(number=number))
        times = []
        for _ in range(3):
            start = time.monotonic()
            subprocess.run([fleetctl, "lint", folder], check=True, stdout=subprocess.DEVNULL)
            times.append(time.monotonic() - start)
        return {"figure": "parsing", "files": count, "seconds": min(times)}


def configuration(fleetctl, fleet, folder):
    """A fleet.yaml whose lab is `fleetctl virtual do`."""
    def command(action):
        words = [fleetctl, "virtual", "do", "{udid}", *action.split(), "--control", fleet.environment["FLEETCTL_VIRTUAL"]]
        return json.dumps(words)

    lines = ["version: 1", "app: {bundle: com.example.kiosk}", "arrange:"]
    for state, action in MEANS.items():
        undo = f", undo: {{command: {command(UNDO[state])}}}" if state in UNDO else ""
        lines.append(f"  {state}: {{command: {command(action)}{undo}}}")
    path = os.path.join(folder, "fleet.yaml")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    return path


def run(fleetctl, ios, phones, scenarios=SCENARIOS):
    """One run of the whole set with every report on."""
    with Fleet(fleetctl, ios=ios, phones=phones, time_scale=1) as fleet, tempfile.TemporaryDirectory() as folder:
        before = cpu_seconds(fleet.process.pid)
        start = time.monotonic()
        with open(os.path.join(folder, "events"), "w") as events:
            process = subprocess.Popen(
                [fleetctl, "run", "--all", "--json", "--report", f"{folder}/report",
                 "--config", configuration(fleetctl, fleet, folder), scenarios],
                env={**fleet.environment, "STATE_DIRECTORY": f"{folder}/state", "FLEETCTL_LOCK_FOLDER": f"{folder}/locks"},
                stdout=events, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        waited, verdicts = {}, {}
        with open(os.path.join(folder, "events")) as events:
            for event in map(json.loads, events):
                if event["event"] == "scenario-finished":
                    waited[event["udid"]] = waited.get(event["udid"], 0) + event["seconds"]
                    verdicts[event["verdict"]] = verdicts.get(event["verdict"], 0) + 1
        return {"phones": phones, "seconds": seconds, "longest_s": max(waited.values(), default=0), "verdicts": verdicts,
                "cpu_s": usage.ru_utime + usage.ru_stime, "virtual_cpu_s": cpu_seconds(fleet.process.pid) - before,
                "memory_mib": usage.ru_maxrss / 1024, "exit": process.returncode,
                "reports_mib": sum(os.path.getsize(os.path.join(folder, "report", name)) for name in
                                   ("run.jsonl", "junit.xml", "report.html")) / (1 << 20)}


def figures(fleetctl, counts=(1, 8, 64)):
    yield parsing(fleetctl)
    alone = [run(fleetctl, [ios], 1) for ios in IOS]
    longest = max(single["longest_s"] for single in alone)
    for single, ios in zip(alone, IOS):
        yield {"figure": "run", "ios": ios, "ratio": single["seconds"] / single["longest_s"], **single}
    for count in counts:
        if count > 1:
            many = run(fleetctl, IOS, count)
            yield {"figure": "run", "ios": ",".join(IOS), "ratio": many["seconds"] / longest, **many}


def main(fleetctl, counts="1,8,64"):
    for figure in figures(os.path.abspath(fleetctl), [int(count) for count in counts.split(",")]):
        print(json.dumps(figure), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
