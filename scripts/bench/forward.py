#!/usr/bin/env python3
"""fleetctl forward against iproxy, on the same virtual phone, in paired runs.

Both tools stay up all the time and are measured in turn, in short rounds, so that whatever else the machine does meets
both alike. The same is measured a third time without any forwarder, straight over the mux socket: that is the share of the
virtual phone and of this script, and it is part of the other two figures.

Prints one JSON object a line to standard output, and a table to standard error.

    scripts/bench/forward.py .build/release/fleetctl [--requests 2000] [--rounds 10] [--seconds 1] [--connections 10000]
"""
import argparse
import contextlib
import json
import os
import plistlib
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

HUNG = 5.0
DOOR, BULK = 8127, 9100
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
        self.mux, self.device = mux, device

    def connect(self, port):
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(HUNG)
        link.connect(self.mux)
        ask(link, {"MessageType": "Connect", "DeviceID": self.device, "PortNumber": socket.htons(port)})
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
        return socket.create_connection(("127.0.0.1", self.ports[port]), timeout=HUNG)

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


def ask(link, request):
    body = plistlib.dumps(request)
    link.sendall(struct.pack("<IIII", 16 + len(body), 1, 8, 1) + body)
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


def request(way):
    """One request on a connection of its own.

    Returns the seconds until the whole answer was there; None when it did not come within five seconds, which is what
    hung means; raises OSError when the connection broke.
    """
    start = time.perf_counter()
    link = None
    try:
        link = way.connect(DOOR)
        link.sendall(REQUEST)
        data = b""
        while True:
            head, found, body = data.partition(b"\r\n\r\n")
            if found:
                length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
                if len(body) >= length:
                    return time.perf_counter() - start
            part = link.recv(65536)
            if not part:
                raise OSError("the answer ended early")
            data += part
    except socket.timeout:
        return None
    finally:
        if link:
            link.close()


class Calls:
    """Latencies, hung and broken requests of one way in one setting."""

    def __init__(self):
        self.seconds, self.hung, self.broken = [], 0, 0
        self.lock = threading.Lock()

    def make(self, way, count):
        for _ in range(count):
            try:
                took = request(way)
            except OSError:
                with self.lock:
                    self.broken += 1
                continue
            with self.lock:
                if took is None:
                    self.hung += 1
                else:
                    self.seconds.append(took)

    def make_at_once(self, way, count, threads):
        workers = [threading.Thread(target=self.make, args=(way, count // threads)) for _ in range(threads)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

    def figures(self):
        ms = sorted(second * 1000 for second in self.seconds) or [float("nan")]
        return {
            "requests": len(self.seconds) + self.hung + self.broken, "hung": self.hung, "broken": self.broken,
            "p50_ms": round(statistics.median(ms), 4), "p99_ms": round(ms[int(len(ms) * 0.99)] if len(ms) > 1 else ms[0], 4),
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
    options = parser.parse_args()
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
            [fleetctl, "virtual", "--phones", "1", "--socket", mux, "--control", control],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(phone.wait)
        stack.callback(phone.terminate)
        wait_for("the virtual phone", lambda: os.path.exists(control))
        subprocess.run([fleetctl, "virtual", "do", "1", "bulk", f"port={BULK}"], env=environment, check=True)
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(mux)
            entry = ask(link, {"MessageType": "ListDevices"})["DeviceList"][0]
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
        for figure, threads in (("one at a time", 1), ("eight at once", 8)):
            calls = {way.name: Calls() for way in ways}
            in_turn(ways, options.rounds, lambda way: calls[way.name].make_at_once(way, each, threads))
            figures = {name: call.figures() for name, call in calls.items()}
            ratio = round(figures["iproxy"]["p50_ms"] / figures["fleetctl"]["p50_ms"], 2)
            emit(figure, **figures, ratio=ratio)
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

        before = ours.descriptors()
        calls = Calls()
        calls.make_at_once(ours, options.connections, 8)
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
