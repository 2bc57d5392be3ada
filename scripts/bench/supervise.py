"""Measures the supervisor: CPU, memory and punctuality with many phones, against loops that people write in the shell.

usage: supervise.py PATH-OF-FLEETCTL PATH-OF-PYMOBILEDEVICE3 [SECONDS [PHONES,PHONES…]]

Prints one JSON object a figure. All phones are well and are asked each ten seconds; they are another process, whose CPU
seconds stand beside the supervisor's. How late a probe is, the phones tell: the time between two hellos of one phone, less
the ten seconds.
"""

import contextlib
import datetime
import json
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Tests", "crosscheck"))

from fleet import Fleet, eventually, free_port  # noqa: E402

IOS = ["15.8", "16.7", "17.6", "18.5", "26.1"]
EVERY = 10


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mib(pid):
    return next(int(line.split()[1]) for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS")) / 1024


def held(pid):
    """Descriptors and threads."""
    return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))


@contextlib.contextmanager
def running(command, environment, **streams):
    process = subprocess.Popen(command, env=environment, start_new_session=True,
                               **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL} | streams)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        process.wait(20)


@contextlib.contextmanager
def supervising(fleetctl, fleet, folder):
    """A supervisor of all the fleet's phones, once every one is up."""
    configuration = os.path.join(folder, "fleet.yaml")
    with open(configuration, "w") as file:
        file.write(f"version: 1\napp: {{bundle: com.example.kiosk}}\nsupervise: {{every: {EVERY}s, listen: null}}\n")
    environment = {**fleet.environment, "STATE_DIRECTORY": os.path.join(folder, "state"),
                   "FLEETCTL_LOCK_FOLDER": os.path.join(folder, "locks")}
    os.mkdir(environment["STATE_DIRECTORY"])
    count = len(fleet.phones())
    with running([fleetctl, "supervise", "--config", configuration], environment) as process:
        def all_up():
            rows = subprocess.run([fleetctl, "outcomes", "--json", "--config", configuration], env=environment,
                                  capture_output=True, text=True).stdout.splitlines()
            return process.poll() is not None or sum(json.loads(row)["outcome"] == "up" for row in rows) >= count
        eventually(all_up, 120)
        if process.poll() is not None:
            sys.exit(f"supervise ended with {process.returncode}")
        yield process


def lateness(journal, since):
    """Milliseconds by which hellos came later than ten seconds after the one before, all phones' together."""
    last, late = {}, []
    for line in journal:
        entry = json.loads(line)
        at = datetime.datetime.fromisoformat(entry["at"].replace("Z", "+00:00")).timestamp()
        if entry["event"] != "door-request" or at < since:
            continue
        if entry["udid"] in last:
            late.append(max(at - last[entry["udid"]] - EVERY, 0) * 1000)
        last[entry["udid"]] = at
    return late


def supervision(fleetctl, phones, seconds):
    with tempfile.TemporaryDirectory() as folder, Fleet(fleetctl, ios=IOS, phones=phones, time_scale=1) as fleet, \
            supervising(fleetctl, fleet, folder) as process, open(os.path.join(folder, "journal"), "w+") as journal:
        # Two rounds: connections are open and kept, what starting took is over.
        time.sleep(2 * EVERY)
        start, own, other = held(process.pid), cpu_seconds(process.pid), cpu_seconds(fleet.process.pid)
        since = time.time()
        with running([fleetctl, "virtual", "journal", "--follow"], fleet.environment, stdout=journal):
            time.sleep(seconds)
        own, other = cpu_seconds(process.pid) - own, cpu_seconds(fleet.process.pid) - other
        journal.seek(0)
        late = sorted(lateness(journal, since))
        return {"figure": "supervision", "phones": phones, "seconds": seconds, "cpu_s": own, "virtual_cpu_s": other,
                "cpu_s_per_phone_hour": own / phones / seconds * 3600, "memory_mib": memory_mib(process.pid),
                "held_before": start, "held_after": held(process.pid), "probes": len(late),
                "cpu_ms_per_look": own / max(len(late) + phones, 1) * 1000,
                "late_p50_ms": statistics.median(late), "late_p99_ms": late[int(len(late) * 0.99)]}


# What a person writes: every phone's door is asked each ten seconds, through a port that is forwarded all the time.
IPROXY_LOOP = """
trap 'kill $(jobs -p) 2>/dev/null; wait; exit' TERM
{forwards}
sleep 1
while :; do
  for port in {ports}; do curl -s -o /dev/null -m {every} http://127.0.0.1:$port/hello && echo; done
  sleep {every} & wait $!
done
"""

# The same with pymobiledevice3, one command a look: it has no mode that stays and asks.
PYTHON_LOOP = """
trap 'kill $(jobs -p) 2>/dev/null; wait; exit' TERM
while :; do
  for udid in {udids}; do {command} lockdown info --udid $udid > /dev/null 2>&1 & wait $! && echo; done
  sleep {every} & wait $!
done
"""


def loop(fleet, script, seconds):
    """How often a shell loop looked, and its CPU seconds with all its children, which are waited for when it ends."""
    # pymobiledevice3 takes a plain path only.
    mux = fleet.environment["USBMUXD_SOCKET_ADDRESS"].removeprefix("UNIX:")
    with tempfile.TemporaryFile("w+") as looks:
        process = subprocess.Popen(["bash", "-c", script], stdout=looks,
                                   env={**fleet.environment, "PYMOBILEDEVICE3_USBMUX": mux},
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(seconds)
        process.send_signal(signal.SIGTERM)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        looks.seek(0)
        return sum(1 for _ in looks), usage.ru_utime + usage.ru_stime


def loops(fleetctl, pymobiledevice3, seconds, phones=10):
    with Fleet(fleetctl, ios=IOS, phones=phones, time_scale=1) as fleet:
        udids = [phone["udid"] for phone in fleet.phones()]
        ports = [free_port() for _ in udids]
        forwards = "\n".join(f"iproxy -u {udid} {port}:8127 >/dev/null 2>&1 &" for udid, port in zip(udids, ports))
        scripts = {
            "iproxy and curl": IPROXY_LOOP.format(forwards=forwards, ports=" ".join(map(str, ports)), every=EVERY),
            "pymobiledevice3": PYTHON_LOOP.format(udids=" ".join(udids), command=shlex.quote(pymobiledevice3), every=EVERY),
        }
        for name, script in scripts.items():
            looks, cpu = loop(fleet, script, seconds)
            yield {"figure": "loop", "of": name, "phones": phones, "seconds": seconds, "cpu_s": cpu, "looks": looks,
                   "cpu_ms_per_look": cpu / max(looks, 1) * 1000}


def figures(fleetctl, pymobiledevice3, seconds=180, counts=(10, 100, 500)):
    for count in counts:
        yield supervision(fleetctl, count, seconds)
    yield from loops(fleetctl, pymobiledevice3, min(seconds, 60))


def main(fleetctl, pymobiledevice3, seconds="180", counts="10,100,500"):
    for figure in figures(os.path.abspath(fleetctl), pymobiledevice3, int(seconds), [int(n) for n in counts.split(",")]):
        print(json.dumps(figure), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:5])
