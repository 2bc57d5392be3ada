"""pymobiledevice3 on iOS 17.4 and later: a tunnel in its own process, and CoreDevice's services in it."""

import json
import os

from debian_services import BUNDLE, mine

# Darwin's numbers.
STOP, CONTINUE, KILL = 17, 19, 9


def coredevice(fleet, checks, at, phone):
    """`at` runs one command of the client for this phone, and makes a tunnel of its own each time."""
    udid, ios = phone["udid"], phone["ios"]
    major = int(ios.split(".")[0])
    there = lambda *words: at("developer", "core-device", *words, "--userspace")

    # Whatever came before has left it running or not; from here on it does not run.
    fleet.act(udid, "launch-app")
    fleet.act(udid, "kill-app")
    launched = json.loads(there("launch-application", BUNDLE, "--env", "HALL=7", "--env", "EMPTY=", "one", "two words"))
    pid = launched["processToken"]["processIdentifier"]
    asked = mine(fleet, phone, "coredevice-launch")[-1]
    checks.equal(f"core-device launch-application, iOS {ios}", (asked["app"], asked["arguments"], asked["environment"]),
                 (BUNDLE, ["one", "two words"], {"HALL": "7", "EMPTY": ""}))
    checks.equal(f"its process, iOS {ios}", mine(fleet, phone, "app-started")[-1]["pid"], pid)

    listed = {p["processIdentifier"]: p.get("executableURL", {}).get("relative") for p in
              json.loads(there("list-processes"))}
    checks.equal(f"core-device list-processes, iOS {ios}",
                 (listed.get(pid, "").endswith("/Kiosk.app/Kiosk"), listed.get(1), 0 in listed and listed[0]),
                 (True, "file:///sbin/launchd", None))
    apps = {app["bundleIdentifier"] for app in json.loads(there("list-apps"))}
    checks.equal(f"core-device list-apps, iOS {ios}", {BUNDLE, "com.apple.Preferences"} <= apps, True)

    for signal in (STOP, CONTINUE, KILL):
        there("send-signal-to-process", str(pid), str(signal))
    checks.equal(f"core-device send-signal-to-process, iOS {ios}",
                 [(s["pid"], s["signal"]) for s in mine(fleet, phone, "signal-sent")[-3:]],
                 [(pid, STOP), (pid, CONTINUE), (pid, KILL)])

    if major < 26:
        for action, locked in (("lock", True), ("unlock", False)):
            fleet.act(udid, action)
            checks.equal(f"core-device get-lockstate after {action}, iOS {ios}",
                         json.loads(there("get-lockstate"))["passcodeRequired"], locked)
    else:
        said = failure(at, "developer", "core-device", "get-lockstate", "--userspace")
        checks.equal(f"core-device get-lockstate, iOS {ios}", "is not implemented" in said, True)

    fleet.act(udid, "lock")
    said = failure(at, "developer", "core-device", "launch-application", BUNDLE, "--userspace")
    checks.equal(f"core-device launch-application while locked, iOS {ios}",
                 "The application failed to launch" in said and "10002" in said, True)
    fleet.act(udid, "unlock")

    picture = f"{fleet.folder}/screen.png"
    there("screen-capture", "screenshot", picture)
    with open(picture, "rb") as file:
        head = file.read(24)
    os.remove(picture)
    shown = mine(fleet, phone, "screenshot-taken")[-1]["shows"]
    checks.equal(f"core-device screen-capture screenshot, iOS {ios}", (head[:8], shown),
                 (b"\x89PNG\r\n\x1a\n", "home screen"))

    opened, closed = (mine(fleet, phone, event) for event in ("tunnel-opened", "tunnel-closed"))
    checks.equal(f"every tunnel has a network of its own, iOS {ios}", len({t["server"] for t in opened}), len(opened))
    checks.equal(f"every tunnel is closed again, iOS {ios}", len(closed), len(opened))
    checks.equal(f"packets come one by one, iOS {ios}", {t["uneven_writes"] for t in closed}, {0})


def personalised(fleet, checks, at, phone):
    """Mounts the image that the fleet has written; `at` reaches the fleet's signing server as its proxy."""
    ios = phone["ios"]
    files = [f"{fleet.folder}/images/personalized/{name}" for name in
             ("Image.dmg", "Image.trustcache", "BuildManifest.plist")]
    at("mounter", "umount-personalized")
    checks.equal(f"mounter umount-personalized, iOS {ios}", json.loads(at("mounter", "list")), [])
    for known in (False, True):
        at("mounter", "mount-personalized", *files)
        entries = json.loads(at("mounter", "list"))
        checks.equal(f"mounter mount-personalized, {'its own' if known else 'a new'} ticket, iOS {ios}",
                     [e["MountPath"] for e in entries], ["/System/Developer"])
        checks.equal(f"the ticket is the phone's own, iOS {ios}",
                     mine(fleet, phone, "personalization-manifest-asked")[-1]["known"], known)
        at("mounter", "umount-personalized")
    fleet.act(phone["udid"], "mount")


def failure(at, *words):
    """What a command says that must not succeed."""
    try:
        said = at(*words)
    except AssertionError as error:
        return str(error)
    return f"succeeded: {said}"
