"""pymobiledevice3 from PyPI, unchanged, against the virtual phones: what it prints is compared with their own state.

usage: pymobiledevice3.py PATH-OF-FLEETCTL

It lives in a throw-away environment under the temporary folder, which PYMOBILEDEVICE3_ENVIRONMENT can name to keep it.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv

from fleet import Checks, Fleet
from pymobiledevice3_coredevice import coredevice, personalised
from pymobiledevice3_services import services

# The release that the protocol notes were proved with.
RELEASE = "pymobiledevice3==11.45.0"
VERSIONS = ["15.8", "16.7", "17.6", "18.5", "26.1"]
BUNDLE = "com.example.kiosk"


def main(executable):
    kept = os.environ.get("PYMOBILEDEVICE3_ENVIRONMENT")
    folder = kept or tempfile.mkdtemp(prefix="fleetctl-pymobiledevice3-")
    try:
        client = install(folder)
        checks = Checks(RELEASE)
        for tcp in (False, True):
            with Fleet(executable, ios=VERSIONS, tcp=tcp, images=True) as fleet:
                # It has no word for UNIX sockets: a bare path is one.
                address = fleet.environment["USBMUXD_SOCKET_ADDRESS"].removeprefix("UNIX:")
                environment = {"USBMUXD_SOCKET_ADDRESS": address, "PYTHONUNBUFFERED": "1"}
                ask = lambda *words: fleet.run(client, "--no-color", *words, environment=environment, timeout=60)
                print("over TCP" if tcp else "over a UNIX socket")
                listing(fleet, checks, ask)
                phones = fleet.phones()
                for phone in phones if not tcp else phones[1:2]:
                    visit(fleet, checks, ask, phone)
                if not tcp:
                    for phone in (phones[1], phones[4]):
                        at = lambda *words: ask(*words, "--udid", phone["udid"])
                        services(fleet, checks, at, [client, "--no-color"], environment, phone)
                    for phone in (phones[2], phones[4]):
                        # Its commands that need a tunnel have no option for the phone.
                        # Its signing server's address is fixed; what answers there is the fleet's, as a proxy.
                        of = environment | {"PYMOBILEDEVICE3_UDID": phone["udid"],
                                            "http_proxy": fleet.environment["FLEETCTL_SIGNING"]}
                        run = lambda *words: fleet.run(client, "--no-color", *words, environment=of, timeout=60)
                        coredevice(fleet, checks, run, phone)
                        personalised(fleet, checks, run, phone)
        checks.finish()
    finally:
        if not kept:
            shutil.rmtree(folder, ignore_errors=True)


def install(folder):
    client = f"{folder}/bin/pymobiledevice3"
    if not os.path.exists(client):
        print(f"installing {RELEASE} into a throw-away environment")
        venv.create(folder, with_pip=True)
        subprocess.run([f"{folder}/bin/pip", "install", "-q", "--disable-pip-version-check", RELEASE], check=True)
    return client


def listing(fleet, checks, ask):
    listed = {p["UniqueDeviceID"]: (p["DeviceName"], p["ProductVersion"]) for p in json.loads(ask("usbmux", "list"))}
    own = {p["udid"]: (p["name"], p["ios"]) for p in fleet.phones()}
    checks.equal("usbmux list", listed, own)


def visit(fleet, checks, ask, phone):
    udid, ios = phone["udid"], phone["ios"]
    at = lambda *words: ask(*words, "--udid", udid)
    info = json.loads(at("lockdown", "info"))
    checks.equal(f"lockdown info, iOS {ios}", (info["UniqueDeviceID"], info["DeviceName"]), (udid, phone["name"]))
    fleet.act(udid, "lock")
    checks.equal(f"the lock, iOS {ios}", json.loads(at("lockdown", "info"))["PasswordProtected"], True)
    fleet.act(udid, "unlock")
    if int(ios.split(".")[0]) >= 16:
        checks.equal(f"developer mode, iOS {ios}", at("amfi", "developer-mode-status").strip(), "true")
    apps = json.loads(at("apps", "list", "--type", "User"))
    checks.equal(f"apps list, iOS {ios}", apps[BUNDLE]["CFBundleIdentifier"], BUNDLE)
    executable = apps[BUNDLE]["CFBundleExecutable"]
    for action, running in (("launch-app", True), ("kill-app", False)):
        fleet.act(udid, action)
        names = [p["ProcessName"] for p in json.loads(at("processes", "ps")).values()]
        checks.equal(f"the process list after {action}, iOS {ios}", executable in names, running)
    battery = json.loads(at("diagnostics", "battery", "single"))
    checks.equal(f"the battery, iOS {ios}", battery["CurrentCapacity"],
                 int(fleet.run("ideviceinfo", "-u", udid, "-q", "com.apple.mobile.battery", "-k",
                               "BatteryCurrentCapacity")))


if __name__ == "__main__":
    main(sys.argv[1])
