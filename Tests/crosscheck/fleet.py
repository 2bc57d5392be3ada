"""A fleet of virtual phones for the cross-checks, its own state, and a list of what was compared."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


class Fleet:
    """`fleetctl virtual` as a child process; ended, and its folder removed, on leaving the `with` block."""

    def __init__(self, executable, *, ios, phones=None, tcp=False, time_scale=10, images=False):
        self.executable = os.path.abspath(executable)
        self.folder = tempfile.mkdtemp(prefix="fleetctl-crosscheck-")
        where = ["--listen", f"127.0.0.1:{free_port()}"] if tcp else ["--socket", f"{self.folder}/mux"]
        self.process = subprocess.Popen(
            [self.executable, "virtual", "--phones", str(phones or len(ios)), "--ios", ",".join(ios), "--control",
             f"{self.folder}/control", "--time-scale", str(time_scale), *where,
             *(["--images", f"{self.folder}/images"] if images else [])],
            stdout=subprocess.PIPE, text=True)
        self.environment = dict(os.environ, HOME=self.folder, XDG_DATA_HOME=f"{self.folder}/data", NO_COLOR="1")
        # Lines say where the fleet listens and who signs; it answers once they are printed.
        for _ in range(3 if images else 2):
            name, _, value = self.process.stdout.readline().strip().partition("=")
            if not value:
                sys.exit(f"fleetctl virtual ended with {self.process.wait()} before it was ready")
            self.environment[name] = value

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("fleetctl virtual did not end within 5 s of SIGTERM")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, *command, timeout=30, environment=None, check=True):
        """What a client prints. A client that fails or hangs is a failed check."""
        done = subprocess.run(
            command, env=self.environment | (environment or {}), capture_output=True, text=True, timeout=timeout)
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr or done.stdout}")
        return done.stdout

    def control(self, request):
        """One request to the fleet's control socket, and its one answer."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(10)
            connection.connect(self.environment["FLEETCTL_VIRTUAL"])
            with connection.makefile("rw") as lines:
                lines.write(json.dumps(request) + "\n")
                lines.flush()
                return json.loads(lines.readline())

    def phones(self):
        """The phones' own state: number, name, udid, ios, attached, locked."""
        return self.control({"list": "phones"})["phones"]

    def act(self, phone, action, **values):
        self.run(self.executable, "virtual", "do", phone, action, *[f"{k}={v}" for k, v in values.items()])

    def journal(self, event):
        lines = self.run(self.executable, "virtual", "journal").splitlines()
        return [entry for entry in map(json.loads, lines) if entry["event"] == event]


class Checks:
    """Compares and counts; the end says how many held, and one that does not hold ends the run with 1."""

    def __init__(self, title):
        self.title, self.held, self.failed = title, 0, 0

    def equal(self, what, printed, own):
        if printed == own:
            self.held += 1
            print(f"  ok    {what}")
        else:
            self.failed += 1
            print(f"  FAIL  {what}: printed {printed!r}, the phone's own state is {own!r}")

    def finish(self):
        print(f"{self.title}: {self.held} of {self.held + self.failed} comparisons hold")
        if self.failed or not self.held:
            sys.exit(1)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def eventually(condition, seconds=10):
    """Asks until it holds or the time is over; for clients that give no sign of being ready."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"did not become true within {seconds} s")
