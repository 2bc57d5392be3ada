"""pymobiledevice3 on the phone's services: files, containers, crash reports, the log, installing and mounting."""

import json
import os

from debian_services import BUNDLE, mine, package, watched


def services(fleet, checks, at, client, environment, phone):
    """`at` runs one command of the client for this phone; `client` and its environment are for those that go on."""
    udid, ios = phone["udid"], phone["ios"]
    local = lambda name: f"{fleet.folder}/{name}"
    sent = os.urandom(300_000)
    with open(local("sent"), "wb") as file:
        file.write(sent)

    at("afc", "push", local("sent"), "Downloads/sent")
    checks.equal(f"afc ls, iOS {ios}", "/Downloads/sent" in at("afc", "ls", "/Downloads"), True)
    at("afc", "pull", "Downloads/sent", local("back"))
    checks.equal(f"afc push and pull, iOS {ios}", open(local("back"), "rb").read() == sent, True)
    at("afc", "rm", "Downloads/sent")
    checks.equal(f"afc rm, iOS {ios}", "sent" in at("afc", "ls", "/Downloads"), False)

    at("apps", "push", BUNDLE, local("sent"), "Documents/sent")
    at("apps", "pull", BUNDLE, "Documents/sent", local("again"))
    checks.equal(f"apps push and pull, iOS {ios}", open(local("again"), "rb").read() == sent, True)

    at("apps", "install", package(local(f"{udid}.ipa"), build="978"))
    installed = [d["build"] for d in mine(fleet, phone, "app-installed")][-1:]
    checks.equal(f"apps install, iOS {ios}", installed, ["978"])
    fleet.act(udid, "launch-app")

    fleet.act(udid, "crash-app", kind="memory")
    fleet.act(udid, "launch-app")
    fleet.act(udid, "crash-app", kind="segfault")
    fleet.act(udid, "launch-app")
    at("crash", "flush")
    listed = [line for line in at("crash", "ls").splitlines() if ".ips" in line]
    checks.equal(f"crash flush and ls, iOS {ios}", len(listed), 2)
    newest = at("crash", "parse-latest", "--match", "^Kiosk")
    checks.equal(f"crash parse-latest, iOS {ios}",
                 [text in newest for text in ("EXC_BAD_ACCESS", "CameraSession.start(for:)")], [True, True])

    for form in ("live", "live-old"):
        said = watched(fleet, [*client, "syslog", form, "--udid", udid], until="hello from the log",
                       do=lambda: fleet.act(udid, "log", text="hello from the log"), every=1,
                       environment=environment)
        checks.equal(f"syslog {form}, iOS {ios}", "Kiosk" in said, True)

    checks.equal(f"provision list, iOS {ios}", json.loads(at("provision", "list")), [])
    checks.equal(f"springboard orientation, iOS {ios}", at("springboard", "orientation").strip(), "1")
    if int(ios.split(".")[0]) < 17:
        mounting(fleet, checks, at, phone, local)


def mounting(fleet, checks, at, phone, local):
    ios = phone["ios"]
    at("mounter", "umount-developer")
    checks.equal(f"mounter umount-developer, iOS {ios}", json.loads(at("mounter", "list")), [])
    with open(local("image.dmg"), "wb") as image, open(local("image.signature"), "wb") as signature:
        image.write(f"FLEETCTL-IMAGE {ios}\n".encode() + b"\7" * 500_000)
        signature.write(bytes(range(128)))
    at("mounter", "mount-developer", local("image.dmg"), local("image.signature"))
    entries = json.loads(at("mounter", "list"))
    checks.equal(f"mounter mount-developer, iOS {ios}", [e["MountPath"] for e in entries], ["/Developer"])
    at("developer", "simulate-location", "set", "10.5", "20.25")
    place = mine(fleet, phone, "location-simulated")[-1]
    checks.equal(f"simulate-location set, iOS {ios}", (place["latitude"], place["longitude"]), (10.5, 20.25))
