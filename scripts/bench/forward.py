#!/usr/bin/env python3
"""fleetctl forward against iproxy, on the same virtual phone, in paired runs.

The phone is one of sixteen, as on a lab's shelf: iproxy asks for the whole list for every client. Both tools stay up all
the time and are measured in turn, in short rounds, so that whatever else the machine does meets both alike. The same is measured a third time without any forwarder, straight over the mux socket: that is the share of the
virtual phone and of this script, and it is part of the other two figures.

Prints one JSON object a line to standard output, and a table to standard error.

    scripts/bench/forward.py .build/release/fleetctl [--requests 2000] [--rounds 10] [--seconds 1] [--connections 10000] [--phones 16] [--undisturbed]
"""
import argparse
import contextlib
import json
import os
import plistlib
import re
import selectors
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

HUNG = 5.0
# So many hung requests tell enough; each costs five seconds.
ENOUGH = 20
# One that has been silent for so long does not count among those at once, or hung ones would leave the others alone.
SLOW = 0.5
DOOR, BULK = 8127, 9100
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
REQUEST = b"GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(what, condition, limit=20.0):
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"forward.py: {what} did not come about within {limit:.0f} s")
        time.sleep(0.02)


class Direct:
    """The way without a forwarder: Connect on the mux socket itself."""

    name = "direct"
    process = None

    def __init__(self, mux, device):
        self.mux = mux
        self.messages = {
            port: message({"MessageType": "Connect", "DeviceID": device, "PortNumber": socket.htons(port)})
            for port in (DOOR, BULK)}

    def connect(self, port):
        link = patient(socket.AF_UNIX)
        link.connect(self.mux)
        link.sendall(self.messages[port])
        exactly(link, struct.unpack("<IIII", exactly(link, 16))[0] - 16)
        return link


class Tool:
    """A forwarder, with one local port for the door and one for the bulk port."""

    def __init__(self, name, command, environment):
        self.name = name
        self.ports = {DOOR: free_port(), BULK: free_port()}
        pairs = [f"{local}:{device}" for device, local in self.ports.items()]
        self.process = subprocess.Popen(
            command + pairs, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(f"{name}'s local port", self.answers)

    def answers(self):
        with contextlib.suppress(OSError), self.connect(DOOR):
            return True
        return False

    def connect(self, port):
        link = patient(socket.AF_INET)
        link.connect(("127.0.0.1", self.ports[port]))
        return link

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def resident_kib(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def patient(family):
    """A blocking socket that waits five seconds at most, by the kernel's clock: Python's own costs a call more each time."""
    link = socket.socket(family)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        link.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", int(HUNG), 0))
    return link


def message(request):
    body = plistlib.dumps(request)
    return struct.pack("<IIII", 16 + len(body), 1, 8, 1) + body


def ask(link, request):
    link.sendall(message(request))
    size = struct.unpack("<IIII", exactly(link, 16))[0]
    return plistlib.loads(exactly(link, size - 16))


def exactly(link, count):
    data = b""
    while len(data) < count:
        part = link.recv(count - len(data))
        if not part:
            raise OSError("the connection ended")
        data += part
    return data


class Request:
    """One request on a connection of its own."""

    def __init__(self, way):
        self.start = time.perf_counter()
        self.data = b""
        self.link = way.connect(DOOR)
        self.link.sendall(REQUEST)

    def is_whole(self):
        """Takes what has come; whether that was all of the answer. Raises OSError when the connection broke."""
        part = self.link.recv(65536)
        if not part:
            raise OSError("the answer ended early")
        self.data += part
        head, found, body = self.data.partition(b"\r\n\r\n")
        length = LENGTH.search(head)
        return bool(found) and length is not None and len(body) >= int(length[1])


class Calls:
    """Latencies, hung and broken requests of one way in one setting.

    A request's time ends when the whole answer is there. One that has none within five seconds is hung; one whose connection
    ends before is broken. A way with twenty hung requests is asked no more.
    """

    def __init__(self):
        self.seconds, self.hung, self.broken = [], 0, 0

    def make(self, way, count, at_once=1):
        if at_once == 1:
            for _ in range(count):
                if self.hung < ENOUGH:
                    self.make_one(way)
        else:
            self.make_at_once(way, count, at_once)

    def make_one(self, way):
        try:
            one = Request(way)
            with one.link:
                while not one.is_whole():
                    pass
                self.seconds.append(time.perf_counter() - one.start)
        except BlockingIOError:
            self.hung += 1
        except OSError:
            self.broken += 1

    def make_at_once(self, way, count, at_once):
        """Driven by events, so that eight at once cost the client no more than one by one."""
        with selectors.DefaultSelector() as selector:
            started = 0
            while (started < count and self.hung < ENOUGH) or selector.get_map():
                while started < count and self.hung < ENOUGH and self.live(selector) < at_once:
                    started += 1
                    try:
                        one = Request(way)
                    except OSError:
                        self.broken += 1
                        continue
                    one.link.setblocking(False)
                    selector.register(one.link, selectors.EVENT_READ, one)
                for key, _ in selector.select(SLOW):
                    self.take(key.data, selector)
                for key in list(selector.get_map().values()):
                    if time.perf_counter() - key.data.start > HUNG:
                        self.hung += 1
                        self.end(key.data, selector)

    @staticmethod
    def live(selector):
        return sum(time.perf_counter() - key.data.start < SLOW for key in selector.get_map().values())

    def take(self, one, selector):
        try:
            if not one.is_whole():
                return
            self.seconds.append(time.perf_counter() - one.start)
        except BlockingIOError:
            return
        except OSError:
            self.broken += 1
        self.end(one, selector)

    @staticmethod
    def end(one, selector):
        selector.unregister(one.link)
        one.link.close()

    def figures(self):
        ms = sorted(second * 1000 for second in self.seconds) or [float("nan")]
        return {
            "requests": len(self.seconds) + self.hung + self.broken, "hung": self.hung, "broken": self.broken,
            "p50_ms": round(statistics.median(ms), 4), "p99_ms": round(ms[int(len(ms) * 0.99)], 4),
        }


def bulk(way, seconds):
    """Bytes a second through one connection, and the forwarder's CPU seconds for each GB."""
    buffer = bytearray(1 << 20)
    with way.connect(BULK) as link:
        link.recv_into(buffer)
        cpu = way.cpu() if way.process else 0
        start, total = time.perf_counter(), 0
        while (now := time.perf_counter()) - start < seconds:
            total += link.recv_into(buffer)
        used = way.cpu() - cpu if way.process else 0
    return total / (now - start), used / (total / 1e9)


def emit(figure, **values):
    print(json.dumps({"bench": "forward", "figure": figure, **values}, sort_keys=True), flush=True)


def in_turn(ways, rounds, measure):
    """Every round measures every way once, each time in another order."""
    for index in range(rounds):
        for way in ways[index % len(ways):] + ways[:index % len(ways)]:
            measure(way)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fleetctl")
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--connections", type=int, default=10_000)
    parser.add_argument("--phones", type=int, default=16)
    parser.add_argument("--undisturbed", action="store_true", help="run before everything else on the machine (as root)")
    options = parser.parse_args()
    if options.undisturbed:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    fleetctl = os.path.abspath(options.fleetctl)
    if not shutil.which("iproxy"):
        sys.exit("forward.py: iproxy is missing. It is in Debian's libusbmuxd-tools. Install it: make test-deps")

    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        mux, control = f"{folder}/mux", f"{folder}/control"
        environment = {
            **os.environ, "USBMUXD_SOCKET_ADDRESS": f"UNIX:{mux}", "FLEETCTL_VIRTUAL": control,
            "XDG_CONFIG_HOME": "/nonexistent", "FLEETCTL_CONFIG": f"{folder}/fleet.yaml"}
        with open(f"{folder}/fleet.yaml", "w") as file:
            file.write("version: 1\napp: {bundle: com.example.kiosk}\n")
        phone = subprocess.Popen(
            [fleetctl, "virtual", "--phones", str(options.phones), "--socket", mux, "--control", control],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(phone.wait)
        stack.callback(phone.terminate)
        wait_for("the virtual phone", lambda: os.path.exists(control))
        subprocess.run([fleetctl, "virtual", "do", "1", "bulk", f"port={BULK}"], env=environment, check=True)
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(mux)
            entries = ask(link, {"MessageType": "ListDevices"})["DeviceList"]
            entry = min(entries, key=lambda entry: entry["DeviceID"])
        udid = entry["Properties"]["SerialNumber"]

        direct = Direct(mux, entry["DeviceID"])
        ours = Tool("fleetctl", [fleetctl, "forward", udid], environment)
        stack.callback(ours.stop)
        theirs = Tool("iproxy", ["iproxy", "-u", udid], environment)
        stack.callback(theirs.stop)
        ways = [ours, theirs, direct]
        for way in ways:
            Calls().make(way, 20)

        table = []
        each = max(8, options.requests // options.rounds)
        for figure, at_once in (("one at a time", 1), ("eight at once", 8)):
            calls = {way.name: Calls() for way in ways}
            in_turn(ways, options.rounds, lambda way: calls[way.name].make(way, each, at_once))
            figures = {name: call.figures() for name, call in calls.items()}
            ratio = round(figures["iproxy"]["p50_ms"] / figures["fleetctl"]["p50_ms"], 2)
            emit(figure, **figures, ratio=ratio, phones=options.phones)
            for name, call in figures.items():
                table.append((figure, name, f'{call["p50_ms"]:.3f} ms', f'{call["p99_ms"]:.3f} ms', f'{call["hung"]} hung, {call["broken"]} broken of {call["requests"]}'))
            table.append((figure, "iproxy / fleetctl", f"{ratio} times", "", ""))

        rates = {way.name: [] for way in ways}
        in_turn(ways, options.rounds, lambda way: rates[way.name].append(bulk(way, options.seconds)))
        median = {name: (statistics.median(r[0] for r in runs), statistics.median(r[1] for r in runs)) for name, runs in rates.items()}
        ratio = round(statistics.median(a[0] / b[0] for a, b in zip(rates["fleetctl"], rates["iproxy"])), 2)
        emit("bulk", ratio=ratio, **{
            name: {"mb_per_s": round(rate / 1e6, 1), "cpu_s_per_gb": round(cpu, 3)} for name, (rate, cpu) in median.items()})
        for name, (rate, cpu) in median.items():
            table.append(("bulk", name, f"{rate / 1e6:.0f} MB/s", f"{cpu:.3f} CPU s/GB" if name != "direct" else "", ""))
        table.append(("bulk", "fleetctl / iproxy", f"{ratio} times", "", ""))

        # What it keeps at hand for the next client (a line to the daemon, a pipe) is there after a few.
        Calls().make(ours, 20)
        time.sleep(1)
        before = ours.descriptors()
        calls = Calls()
        calls.make(ours, options.connections, 8)
        figures = calls.figures()
        # What a client closed a moment ago may still be under way.
        time.sleep(1)
        after, resident = ours.descriptors(), ours.resident_kib()
        emit("descriptors", connections=figures["requests"], hung=figures["hung"], broken=figures["broken"], before=before, after=after, resident_kib=resident)
        table.append((f"after {figures['requests']} connections", "fleetctl", f"{before} to {after} fds", f"{resident / 1024:.1f} MiB", f'{figures["hung"]} hung, {figures["broken"]} broken'))

    widths = [max(len(row[column]) for row in table) for column in range(5)]
    for row in table:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip(), file=sys.stderr)


if __name__ == "__main__":
    main()
