"""Measures fleetctl against the tools that people use today, in paired runs of whole processes.

usage: bench.py PATH-OF-FLEETCTL PYMOBILEDEVICE3-OR-EMPTY OUTPUT.md

Each pair runs A, then B, on the same virtual phones; medians and the ratios of the pairs are reported. The other side's
load (the virtual phones' own CPU seconds) stands beside them, since both share one machine.
"""

import contextlib
import datetime
import http.client
import json
import os
import platform
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "Tests", "crosscheck"))

from fleet import Fleet, eventually, free_port  # noqa: E402

IOS = ["15.8", "16.7", "17.6", "18.5", "26.1"]


def main(fleetctl, pymobiledevice3, output):
    undisturbed()
    rows = []
    parts = (virtual_fleet, devices_against_idevice_tools, devices_among_hung_phones, hello_and_start,
             lambda fleetctl, _: forward_against_iproxy(fleetctl), coredevice, lambda fleetctl, _: churn(fleetctl),
             lambda fleetctl, _: scenario_runs(fleetctl), supervision)
    for number, measure in enumerate(parts, 1):
        rows += measure(fleetctl, pymobiledevice3)
        # After each part: a run that is cut off has measured something, and says how much.
        write(output, rows, f"{number} of {len(parts)} parts were measured")
    failed = [row for row in rows if row["holds"] is False]
    for row in failed:
        print(f"MISSED: {row['what']}: {row['result']} (wanted {row['wanted']})", file=sys.stderr)
    sys.exit(1 if failed else 0)


def undisturbed():
    """Everything started here runs before whatever else the machine does, where we may say so (as root)."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


def row(what, result, wanted, holds, load=""):
    print(f"{'ok  ' if holds else 'MISS' if holds is False else '--  '} {what}: {result} (wanted {wanted}) {load}", flush=True)
    return {"what": what, "result": result, "wanted": wanted, "holds": holds, "load": load}


def timed(command, environment):
    """Wall seconds, CPU seconds and peak memory in MiB of one whole process."""
    start = time.monotonic()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return (time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, process.returncode)


def cpu_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mib(pid):
    line = next(line for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def held(pid):
    """Descriptors and threads of a process."""
    return len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))


def paired(first, second, environment, pairs=5):
    """Medians of both sides' wall seconds, and the median of the pairs' ratios second/first."""
    ones, others = [], []
    for _ in range(pairs):
        ones.append(timed(first, environment)[0])
        others.append(timed(second, environment)[0])
    ratios = [other / one for one, other in zip(ones, others)]
    return statistics.median(ones), statistics.median(others), statistics.median(ratios)


def virtual_fleet(fleetctl, _):
    ready, memory = [], []
    for _ in range(3):
        start = time.monotonic()
        with Fleet(fleetctl, ios=IOS, phones=200, time_scale=1) as fleet:
            ready.append(time.monotonic() - start)
            fleet.run(fleetctl, "devices", "--json", timeout=60)
            memory.append(memory_mib(fleet.process.pid))
    ready, memory = statistics.median(ready), statistics.median(memory)
    return [
        row("200 virtual phones ready", f"{ready:.2f} s", "under 5 s", ready < 5),
        row("200 virtual phones' memory, after a visit to each", f"{memory:.0f} MiB", "under 300 MiB", memory < 300),
    ]


def devices_against_idevice_tools(fleetctl, _):
    with Fleet(fleetctl, ios=IOS, phones=50, time_scale=1) as fleet:
        before = cpu_seconds(fleet.process.pid)
        tools = ["sh", "-c", "for u in $(idevice_id -l); do ideviceinfo -u $u; done"]
        ours, theirs, ratio = paired([fleetctl, "devices", "--json"], tools, fleet.environment)
        load = f"virtual side {cpu_seconds(fleet.process.pid) - before:.1f} CPU s over all pairs"
        return [row("devices with 50 phones against idevice_id and 50 times ideviceinfo",
                    f"{ours * 1000:.0f} ms against {theirs * 1000:.0f} ms, {ratio:.1f} times faster",
                    "at least 5 times", ratio >= 5, load)]


def devices_among_hung_phones(fleetctl, _):
    limit = 5 + 3
    with Fleet(fleetctl, ios=IOS, phones=200, time_scale=1) as fleet:
        for phone in ("Phone 7", "Phone 120"):
            fleet.act(phone, "lockdown-fault", kind="hang", request="all")
        seconds, _, memory, code = timed([fleetctl, "devices", "--json"], fleet.environment)
        return [row("devices with 200 phones, two of them hung", f"{seconds:.2f} s, {memory:.0f} MiB, exit {code}",
                    f"at most {limit} s (the hang's 5 s and 3 s)", seconds <= limit and code == 0)]


def hello_and_start(fleetctl, pymobiledevice3):
    with Fleet(fleetctl, ios=["16.7"], time_scale=1) as fleet:
        command = [fleetctl, "hello", fleet.phones()[0]["udid"]]
        memory = statistics.median(timed(command, fleet.environment)[2] for _ in range(5))
        rows = [row("hello's memory as a whole process", f"{memory:.1f} MiB", "under 30 MiB", memory < 30)]
        if not pymobiledevice3:
            return rows + [row("hello against pymobiledevice3's start", "not measured: it is not installed",
                               "at least 30 times", None)]
        ours, theirs, ratio = paired(command, [pymobiledevice3, "version"], fleet.environment)
        return rows + [row("hello as a whole process against pymobiledevice3's start alone",
                           f"{ours * 1000:.1f} ms against {theirs * 1000:.0f} ms, {ratio:.0f} times faster",
                           "at least 30 times", ratio >= 30)]


def forward_against_iproxy(fleetctl):
    """What forward.py measures, as rows."""
    done = subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "forward.py"), fleetctl],
                          stdout=subprocess.PIPE, text=True, check=True)
    rows = []
    for figure in map(json.loads, done.stdout.splitlines()):
        what, ours = figure["figure"], figure.get("fleetctl")
        if what in ("one at a time", "eight at once"):
            theirs, alone = figure["iproxy"], figure["direct"]
            load = f"the same without a forwarder {alone['p50_ms']:.2f} ms"
            rows.append(row(f"forward, {ours['requests']} requests {what}: hung or broken",
                            f"{ours['hung']} hung, {ours['broken']} broken (iproxy {theirs['hung']} hung, "
                            f"{theirs['broken']} broken)", "none", ours["hung"] + ours["broken"] == 0))
            result = f"{ours['p50_ms']:.2f} ms against {theirs['p50_ms']:.2f} ms, {figure['ratio']:.1f} times faster"
            if theirs["hung"] + theirs["broken"]:
                # Those that hang leave fewer at once for the others, so the two sides did not do the same work.
                result += f"; iproxy's p50 is of the {theirs['requests'] - theirs['hung'] - theirs['broken']} that it answered"
            wanted = ("at least 3 times", figure["ratio"] >= 3) if what == "one at a time" else ("for comparison", None)
            rows.append(row(f"forward, requests {what}: p50 against iproxy's", result, *wanted, load))
        elif what == "bulk":
            rows.append(row("forward, bulk through one connection against iproxy's",
                            f"{ours['mb_per_s']:.0f} MB/s against {figure['iproxy']['mb_per_s']:.0f} MB/s, "
                            f"{figure['ratio']:.1f} times", "at least twice", figure["ratio"] >= 2,
                            f"the same without a forwarder {figure['direct']['mb_per_s']:.0f} MB/s"))
        elif what == "descriptors":
            rows.append(row(f"forward's descriptors after {figure['connections']} connections",
                            f"{figure['before']} before, {figure['after']} after", "equal",
                            figure["before"] == figure["after"]))
    return rows


def coredevice(fleetctl, pymobiledevice3):
    """What coredevice.py measures, as rows."""
    folder = os.path.dirname(__file__)
    done = subprocess.run([sys.executable, os.path.join(folder, "coredevice.py"), fleetctl,
                           os.path.join(os.path.dirname(fleetctl), "tunnelbench"), pymobiledevice3],
                          stdout=subprocess.PIPE, text=True, check=True)
    return [row(**json.loads(line)) for line in done.stdout.splitlines()]


def scenario_runs(fleetctl):
    """What scenarios.py measures, as rows."""
    done = subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "scenarios.py"), fleetctl],
                          stdout=subprocess.PIPE, text=True, check=True)
    rows = []
    for figure in map(json.loads, done.stdout.splitlines()):
        if figure["figure"] == "parsing":
            rows.append(row(f"{figure['files']} scenario files read and checked", f"{figure['seconds']:.2f} s", "under 1 s",
                            figure["seconds"] < 1))
            continue
        phones = f"{figure['phones']} phone{'s' if figure['phones'] > 1 else ''} (iOS {figure['ios']})"
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(figure["verdicts"].items()))
        good = not set(figure["verdicts"]) - {"passed", "skipped", "quarantined"}
        rows.append(row(f"the shipped scenarios on {phones} against the longest phone's own waiting",
                        f"{figure['seconds']:.0f} s, {figure['ratio']:.2f} times; {verdicts}",
                        "at most 1.15 times, nothing failed", figure["ratio"] <= 1.15 and good,
                        f"ours {figure['cpu_s']:.1f} CPU s, the virtual side {figure['virtual_cpu_s']:.1f}"))
        if figure["phones"] >= 64:
            rows.append(row(f"memory of that run, every report on ({figure['reports_mib']:.1f} MiB of them)",
                            f"{figure['memory_mib']:.0f} MiB", "under 256 MiB", figure["memory_mib"] < 256))
    return rows


def supervision(fleetctl, pymobiledevice3):
    """What supervise.py measures, as rows."""
    done = subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "supervise.py"), fleetctl,
                           pymobiledevice3], stdout=subprocess.PIPE, text=True, check=True)
    rows, per_look = [], {}
    for figure in map(json.loads, done.stdout.splitlines()):
        if figure["figure"] == "loop":
            times = figure["cpu_ms_per_look"] / per_look[figure["phones"]]
            wanted = 20 if "curl" in figure["of"] else 100
            rows.append(row(f"CPU of one look, supervise against a shell loop of {figure['of']}, {figure['phones']} phones",
                            f"{per_look[figure['phones']]:.2f} ms against {figure['cpu_ms_per_look']:.1f} ms "
                            f"({figure['looks']} looks), {times:.0f} times less", f"at least {wanted} times",
                            times >= wanted and figure["looks"] > 0))
            continue
        phones, what = figure["phones"], f"supervise, {figure['phones']} phones for {figure['seconds']} s"
        per_look[phones] = figure["cpu_ms_per_look"]
        load = f"virtual side {figure['virtual_cpu_s']:.1f} CPU s"
        rows.append(row(f"{what}: CPU", f"{figure['cpu_s_per_phone_hour']:.2f} CPU s a phone and hour", "for comparison", None, load))
        limit = 40 + phones / 4
        rows.append(row(f"{what}: memory", f"{figure['memory_mib']:.0f} MiB", f"under {limit:.0f} MiB",
                        figure["memory_mib"] < limit))
        rows.append(row(f"{what}: probes later than ten seconds after the one before", f"p50 {figure['late_p50_ms']:.1f} ms, "
                        f"p99 {figure['late_p99_ms']:.1f} ms, of {figure['probes']}", "for comparison", None, load))
        before, after = figure["held_before"], figure["held_after"]
        rows.append(row(f"{what}: descriptors and threads", f"{before} before, {after} after", "no more", not_more(after, before)))
    return rows


@contextlib.contextmanager
def forwarding(fleetctl, fleet, body):
    """A `fleetctl forward` to the door, and its local port."""
    port = free_port()
    process = subprocess.Popen([fleetctl, "forward", body, f"{port}:8127"], env=fleet.environment,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process, port
    finally:
        process.terminate()
        process.wait()


def hello(port):
    """Whether the door answers through a local port, on a connection of its own."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        link.request("GET", "/hello")
        return link.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        link.close()


def churn(fleetctl):
    """10,000 hellos through one forward, 200 detach/attach rounds and 200 mux restarts leave nothing behind."""
    rows = []
    with Fleet(fleetctl, ios=["16.7"], time_scale=1) as fleet:
        with forwarding(fleetctl, fleet, fleet.phones()[0]["udid"]) as (process, port):
            eventually(lambda: hello(port))
            # What starting took is over, and what forward keeps at hand for the next client is there.
            time.sleep(3)
            start = held(process.pid)
            rounds = (
                ("hellos through one forward", 10_000, lambda: hello(port)),
                ("rounds of detach and attach", 200, lambda: (fleet.act("1", "detach"), fleet.act("1", "attach"))),
                ("restarts of the mux", 200, lambda: fleet.act("1", "mux-quit")),
            )
            for what, count, act in rounds:
                answers = sum(act() is True for _ in range(count))
                eventually(lambda: hello(port), 60)
                with contextlib.suppress(AssertionError):
                    eventually(lambda: not_more(held(process.pid), start))
                told = f"{answers} answered; " if answers else ""
                rows.append(row(f"{count} {what}", f"{told}descriptors and threads {start} before, {held(process.pid)} "
                                "after", "no more, none unanswered", not_more(held(process.pid), start)
                                and (answers == count or "hellos" not in what)))
    return rows


def not_more(now, start):
    """Nothing is left behind; a thread that has had nothing to do may have ended."""
    return all(count <= before for count, before in zip(now, start))


def write(output, rows, extent):
    machine = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
                   platform.machine())
    with open(output, "w") as page:
        page.write("# Performance\n\n"
                   "Written by `make bench`; do not edit. Whole processes, paired runs on the same virtual phones, medians.\n"
                   "Both sides share one machine, so ratios say more than absolute times.\n\n"
                   f"- date: {datetime.date.today().isoformat()}\n"
                   f"- extent: {extent}\n"
                   f"- machine: {os.cpu_count()} cores, {machine}; {platform.system()} {platform.release()}; "
                   f"load average at the end {os.getloadavg()[0]:.1f}\n\n"
                   "| what | result | wanted | holds | load of the other side |\n|---|---|---|---|---|\n")
        for entry in rows:
            holds = {True: "yes", False: "no", None: "not judged"}[entry["holds"]]
            page.write(f"| {entry['what']} | {entry['result']} | {entry['wanted']} | {holds} | {entry['load']} |\n")


if __name__ == "__main__":
    main(*sys.argv[1:4])
