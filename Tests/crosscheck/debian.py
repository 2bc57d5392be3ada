"""Debian's own clients against the virtual phones: what they print is compared with the phones' own state.

usage: debian.py PATH-OF-FLEETCTL
"""

import json
import signal
import subprocess
import sys

import debian_services
from fleet import Checks, Fleet, eventually, free_port

VERSIONS = ["15.8", "16.7", "17.6", "18.5", "26.1"]
BUNDLE = "com.example.kiosk"


def main(executable):
    checks = Checks("Debian's clients")
    for tcp in (False, True):
        with Fleet(executable, ios=VERSIONS, tcp=tcp) as fleet:
            print("over TCP" if tcp else "over a UNIX socket")
            listing(fleet, checks)
            for phone in fleet.phones():
                identity(fleet, checks, phone)
                forwarding(fleet, checks, phone)
            trust(fleet, checks)
            debugging(fleet, checks)
            # The way to the mux makes no difference to a service; each is visited once.
            for phone in fleet.phones() if not tcp else []:
                debian_services.everywhere(fleet, checks, phone)
                if int(phone["ios"].split(".")[0]) < 17:
                    debian_services.with_image(fleet, checks, phone)
    checks.finish()


def listing(fleet, checks):
    listed = fleet.run("idevice_id", "-l").split()
    checks.equal("idevice_id lists every phone", sorted(listed), sorted(p["udid"] for p in fleet.phones()))


def identity(fleet, checks, phone):
    udid, ios = phone["udid"], phone["ios"]
    value = lambda key, *more: fleet.run("ideviceinfo", "-u", udid, "-k", key, *more).strip()
    checks.equal(f"idevicename of iOS {ios}", fleet.run("idevicename", "-u", udid).strip(), phone["name"])
    checks.equal(f"ideviceinfo's version of iOS {ios}", value("ProductVersion"), ios)
    checks.equal(f"ideviceinfo without a session, iOS {ios}", value("ProductVersion", "-s"), ios)
    checks.equal(f"ideviceinfo's identifier, iOS {ios}", value("UniqueDeviceID"), udid)
    whole = fleet.run("ideviceinfo", "-u", udid)
    checks.equal(f"ideviceinfo's whole dump names iOS {ios}", f"ProductVersion: {ios}" in whole, True)
    for action, locked in (("lock", "true"), ("unlock", "false")):
        fleet.act(udid, action)
        checks.equal(f"ideviceinfo's PasswordProtected after {action}, iOS {ios}", value("PasswordProtected"), locked)
    battery = fleet.run("ideviceinfo", "-u", udid, "-q", "com.apple.mobile.battery")
    checks.equal(f"ideviceinfo's battery, iOS {ios}", "BatteryCurrentCapacity: " in battery, True)


def forwarding(fleet, checks, phone):
    """iproxy and an HTTP client of other people's on the door."""
    port = free_port()
    proxy = subprocess.Popen(
        ["iproxy", "-u", phone["udid"], f"{port}:8127"], env=fleet.environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL)
    try:
        fleet.act(phone["udid"], "launch-app")
        hello = json.loads(eventually(lambda: fleet.run("curl", "-s", f"http://127.0.0.1:{port}/hello", check=False)))
        checks.equal(f"curl's hello through iproxy, iOS {phone['ios']}", (hello["ok"], hello["active"]), (True, True))
        kind = fleet.run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code} %{content_type}", "-X", "POST",
                         f"http://127.0.0.1:{port}/photo?camera=front")
        checks.equal(f"curl's photo through iproxy, iOS {phone['ios']}", kind, "200 image/jpeg")
    finally:
        proxy.terminate()
        proxy.wait()


def trust(fleet, checks):
    phone = fleet.phones()[1]
    said = lambda command, check=True: fleet.run("idevicepair", "-u", phone["udid"], command, check=check).strip()
    checks.equal("idevicepair validate", said("validate"), f"SUCCESS: Validated pairing with device {phone['udid']}")
    checks.equal("idevicepair unpair", said("unpair"), f"SUCCESS: Unpaired with device {phone['udid']}")
    fleet.act(phone["udid"], "trust", mode="ask")
    checks.equal("idevicepair pair while the dialog shows", "trust dialog" in said("pair", check=False), True)
    fleet.act(phone["udid"], "trust", mode="accept")
    checks.equal("idevicepair pair", said("pair"), f"SUCCESS: Paired with device {phone['udid']}")
    checks.equal("idevicepair validate afterwards", said("validate"),
                 f"SUCCESS: Validated pairing with device {phone['udid']}")


def debugging(fleet, checks):
    """idevicedebug runs the app until it is interrupted, and then kills it; the journal tells what it asked for."""
    phone = next(p for p in fleet.phones() if p["ios"].startswith("16"))
    fleet.act(phone["udid"], "kill-app")
    runner = subprocess.Popen(
        ["idevicedebug", "-u", phone["udid"], "-e", "LEVEL=010", "run", BUNDLE, "--kiosk", "on"],
        env=fleet.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        launch = eventually(lambda: [e for e in fleet.journal("launch-requested") if e["udid"] == phone["udid"]])[-1]
        checks.equal("idevicedebug's arguments", launch["details"]["arguments"], ["--kiosk", "on"])
        checks.equal("idevicedebug's environment", launch["details"]["environment"].get("LEVEL"), "010")
        runner.send_signal(signal.SIGINT)
        runner.wait(timeout=20)
        killed = [e["details"]["bundle"] for e in fleet.journal("app-killed") if e["udid"] == phone["udid"]]
        checks.equal("idevicedebug kills its app when it is interrupted", killed[-1:], [BUNDLE])
    finally:
        runner.kill()
        runner.wait()
    fleet.act(phone["udid"], "lock")
    said = subprocess.run(["idevicedebug", "-u", phone["udid"], "run", BUNDLE], env=fleet.environment,
                          capture_output=True, text=True, timeout=20)
    checks.equal("idevicedebug on a locked phone is refused", said.returncode != 0, True)
    fleet.act(phone["udid"], "unlock")


if __name__ == "__main__":
    main(sys.argv[1])
