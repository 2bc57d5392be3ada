"""Debian's clients for the phone's services: what they print and fetch is compared with its state and journal."""

import os
import plistlib
import signal
import socket
import struct
import subprocess
import time
import zipfile
import zlib

from fleet import eventually, free_port

BUNDLE = "com.example.kiosk"
# The red band: sRGB 0.86, 0.10, 0.12.
BAND = (219, 26, 31)


def everywhere(fleet, checks, phone):
    """What every phone has, whatever its version."""
    diagnostics(fleet, checks, phone)
    notifications(fleet, checks, phone)
    log(fleet, checks, phone)
    crashes(fleet, checks, phone)
    settings(fleet, checks, phone)
    installing(fleet, checks, phone)


def with_image(fleet, checks, phone):
    """What needs the developer image: iOS 16 and older."""
    mounting(fleet, checks, phone)
    screen(fleet, checks, phone)
    location(fleet, checks, phone)
    debugger(fleet, checks, phone)


def mine(fleet, phone, event):
    return [e["details"] for e in fleet.journal(event) if e["udid"] == phone["udid"]]


def diagnostics(fleet, checks, phone):
    udid, ios = phone["udid"], phone["ios"]
    ask = lambda *words: fleet.run("idevicediagnostics", "-u", udid, *words)
    fleet.act(udid, "battery", temperature="33.5", cycles="77")
    entry = plistlib.loads(ask("ioregentry", "IOPMPowerSource").encode())["IORegistry"]
    checks.equal(f"idevicediagnostics' battery temperature, iOS {ios}", entry["Temperature"], 3350)
    gauge = plistlib.loads(ask("diagnostics", "GasGauge").encode())["GasGauge"]
    checks.equal(f"idevicediagnostics' cycles, iOS {ios}", gauge["CycleCount"], 77)
    ask("sleep")
    checks.equal(f"idevicediagnostics sleep, iOS {ios}", len(mine(fleet, phone, "sleep-requested")), 1)


def notifications(fleet, checks, phone):
    udid, ios = phone["udid"], phone["ios"]
    fleet.run("idevicenotificationproxy", "-u", udid, "post", "com.example.hello")
    posted = [d["name"] for d in mine(fleet, phone, "notification-posted")]
    checks.equal(f"idevicenotificationproxy post, iOS {ios}", posted, ["com.example.hello"])
    said = watched(
        fleet, ["idevicenotificationproxy", "-u", udid, "observe", "com.apple.springboard.lockstate"],
        until="> com.apple.springboard.lockstate", do=lambda: toggle_lock(fleet, udid))
    checks.equal(f"idevicenotificationproxy observe, iOS {ios}", "> com.apple.springboard.lockstate" in said, True)
    fleet.act(udid, "unlock")


def toggle_lock(fleet, udid):
    fleet.act(udid, "lock")
    fleet.act(udid, "unlock")


def log(fleet, checks, phone):
    udid, ios = phone["udid"], phone["ios"]
    command = ["idevicesyslog", "-u", udid, "--no-colors", "-p", "Kiosk"]
    said = watched(fleet, command, until="from the app", do=lambda: (
        fleet.act(udid, "log", text="not to be seen", process="wifid"), fleet.act(udid, "log", text="from the app")))
    lines = [line for line in said.splitlines() if "from the app" in line]
    checks.equal(f"idevicesyslog's line, iOS {ios}", lines[0].split(" Kiosk")[1][-24:].split("] ")[1],
                 "<Notice>: from the app")
    checks.equal(f"idevicesyslog's filter, iOS {ios}", "not to be seen" in said, False)


def crashes(fleet, checks, phone):
    udid, ios = phone["udid"], phone["ios"]
    fleet.act(udid, "old-crash", age="3h", kind="trap")
    fleet.act(udid, "launch-app")
    fleet.act(udid, "crash-app", kind="abort")
    folder = f"{fleet.folder}/crashes-{udid}"
    os.makedirs(folder)
    fleet.run("idevicecrashreport", "-u", udid, "-k", folder)
    reports = sorted(name for name in os.listdir(folder) if name.endswith(".ips"))
    checks.equal(f"idevicecrashreport's reports, iOS {ios}", len(reports), 2)
    text = open(f"{folder}/{reports[-1]}").read()
    checks.equal(f"idevicecrashreport's newest, iOS {ios}", "EXC_CRASH" in text and BUNDLE in text, True)
    fleet.run("idevicecrashreport", "-u", udid, folder)
    again = f"{fleet.folder}/crashes-again-{udid}"
    os.makedirs(again)
    fleet.run("idevicecrashreport", "-u", udid, again)
    checks.equal(f"idevicecrashreport has moved them, iOS {ios}",
                 [name for name in os.listdir(again) if name.endswith(".ips")], [])
    fleet.act(udid, "launch-app")


def settings(fleet, checks, phone):
    udid, ios = phone["udid"], phone["ios"]
    checks.equal(f"ideviceprovision list, iOS {ios}",
                 "0 provisioning profile" in fleet.run("ideviceprovision", "-u", udid, "list"), True)
    own = lambda: float(fleet.run("ideviceinfo", "-u", udid, "-k", "TimeIntervalSince1970"))
    checks.equal(f"the phone's clock, iOS {ios}", abs(own() - time.time()) < 60, True)
    fleet.run("idevicedate", "-u", udid, "-s", "1700000000")
    checks.equal(f"idevicedate sets it, iOS {ios}", 0 <= own() - 1700000000 < 60, True)
    fleet.run("idevicedate", "-u", udid, "-c")
    checks.equal(f"idevicedate sets it right, iOS {ios}", abs(own() - time.time()) < 60, True)
    fleet.run("idevicename", "-u", udid, "Cross check")
    name = next(p["name"] for p in fleet.phones() if p["udid"] == udid)
    checks.equal(f"idevicename gives a name, iOS {ios}", name, "Cross check")
    fleet.run("idevicename", "-u", udid, phone["name"])


def installing(fleet, checks, phone):
    udid, ios = phone["udid"], phone["ios"]
    ask = lambda *words, check=True: fleet.run("ideviceinstaller", "-u", udid, *words, check=check)
    archive = package(f"{fleet.folder}/kiosk-{udid}.ipa", build="977")
    fleet.act(udid, "install-fault", error="ApplicationVerificationFailed")
    refused = subprocess.run(["ideviceinstaller", "-u", udid, "-i", archive], env=fleet.environment,
                             capture_output=True, text=True, timeout=30)
    checks.equal(f"ideviceinstaller says the phone's refusal, iOS {ios}",
                 "ApplicationVerificationFailed" in refused.stdout + refused.stderr, True)
    fleet.act(udid, "install-fault", kind="none")
    # -w: until the phone's own notification says so.
    ask("-w", "-i", archive)
    installed = mine(fleet, phone, "app-installed")[-1:]
    checks.equal(f"ideviceinstaller installs, iOS {ios}", [d["build"] for d in installed], ["977"])
    checks.equal(f"ideviceinstaller lists it, iOS {ios}", f'{BUNDLE}, "977"' in ask("-l"), True)
    ask("-U", BUNDLE)
    checks.equal(f"ideviceinstaller removes it, iOS {ios}", BUNDLE in ask("-l"), False)
    fleet.act(udid, "install-app")
    fleet.act(udid, "launch-app")


def package(path, build):
    """A package of the kiosk app as a build server would leave it there; gives the path back."""
    info = {"CFBundleIdentifier": BUNDLE, "CFBundleExecutable": "Kiosk", "CFBundleName": "Kiosk",
            "CFBundleVersion": build, "CFBundleShortVersionString": "9.7.7", "MinimumOSVersion": "15.0"}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Payload/Kiosk.app/Info.plist", plistlib.dumps(info, fmt=plistlib.FMT_BINARY))
        archive.writestr("Payload/Kiosk.app/Kiosk", b"\0" * 300_000)
    return path


def mounting(fleet, checks, phone):
    udid, ios = phone["udid"], phone["ios"]
    mounter = lambda *words, check=True: fleet.run("ideviceimagemounter", "-u", udid, *words, check=check)
    fleet.act(udid, "unmount")
    checks.equal(f"no image is there, iOS {ios}", "ImageSignature[0]" in mounter("-l"), False)
    signature = f"{fleet.folder}/image.signature"
    open(signature, "wb").write(bytes(range(128)))
    for version, mounts in (("14.2", False), (ios, True)):
        image = f"{fleet.folder}/image-{version}.dmg"
        open(image, "wb").write(f"FLEETCTL-IMAGE {version}\n".encode() + b"\7" * 2_000_000)
        said = mounter(image, signature, check=False)
        checks.equal(f"ideviceimagemounter with the image of {version}, iOS {ios}",
                     ("Status: Complete" in said, "ImageMountFailed" in said), (mounts, not mounts))
        checks.equal(f"the phone mounted it, iOS {ios}", len(mine(fleet, phone, "image-mounted")), int(mounts))
    checks.equal(f"ideviceimagemounter -l names its signature, iOS {ios}", "ImageSignature[1]:" in mounter("-l"), True)


def screen(fleet, checks, phone):
    udid, ios = phone["udid"], phone["ios"]
    fleet.act(udid, "launch-app")
    for hold in (False, True):
        if hold:
            fleet.act(udid, "hold-camera", camera="front")
        # Straight into memory: a picture is never a file.
        taken = subprocess.run(["idevicescreenshot", "-u", udid, "/dev/stdout"], env=fleet.environment,
                               capture_output=True, timeout=60, check=True).stdout
        size, top = picture(taken)
        checks.equal(f"idevicescreenshot's first pixel {'with' if hold else 'without'} a capture, iOS {ios}",
                     top == BAND, hold)
    shown = [d["shows"] for d in mine(fleet, phone, "screenshot-taken")]
    checks.equal(f"idevicescreenshot, iOS {ios}", shown, ["kiosk", "kiosk with its band"])
    checks.equal(f"the picture's size, iOS {ios}", size, {"15.8": (750, 1334), "16.7": (828, 1792)}[ios])
    fleet.act(udid, "release-camera")


def picture(png):
    """Size and first pixel of a PNG whose first row has no filter."""
    width, height = struct.unpack(">II", png[16:24])
    data, at = b"", 8
    while at < len(png) and png[at + 4:at + 8] != b"IEND":
        length = struct.unpack(">I", png[at:at + 4])[0]
        if png[at + 4:at + 8] == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += 12 + length
    return (width, height), tuple(zlib.decompress(data)[1:4])


def location(fleet, checks, phone):
    udid, ios = phone["udid"], phone["ios"]
    fleet.run("idevicesetlocation", "-u", udid, "--", "10.5", "-20.25")
    place = eventually(lambda: mine(fleet, phone, "location-simulated"))[-1]
    checks.equal(f"idevicesetlocation, iOS {ios}", (place["latitude"], place["longitude"]), (10.5, -20.25))
    fleet.run("idevicesetlocation", "-u", udid, "reset")
    resets = eventually(lambda: mine(fleet, phone, "location-reset"))
    checks.equal(f"idevicesetlocation reset, iOS {ios}", len(resets), 1)


def debugger(fleet, checks, phone):
    """Over the old, clear service: inside TLS Debian's proxy waits for a full buffer and loses what is less."""
    udid, port = phone["udid"], free_port()
    fleet.act(udid, "lockdown-error", service="com.apple.debugserver.DVTSecureSocketProxy", error="InvalidService")
    proxy = subprocess.Popen(["idevicedebugserverproxy", "-u", udid, str(port)], env=fleet.environment,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with eventually(lambda: dial(port)) as connection:
            connection.sendall(b"+$QStartNoAckMode#b0")
            answer = b""
            while not answer.endswith(b"#9a"):
                part = connection.recv(64)
                if not part:
                    break
                answer += part
            checks.equal(f"debugserver through idevicedebugserverproxy, iOS {phone['ios']}", answer, b"+$OK#9a")
    finally:
        proxy.kill()
        proxy.wait()
        fleet.act(udid, "lockdown-error", clear="yes")


def dial(port):
    try:
        return socket.create_connection(("127.0.0.1", port), timeout=20)
    except OSError:
        return None


def watched(fleet, command, *, until, do, every=0.2, environment=None):
    """What a client that runs until it is stopped has printed, once a text is in it; `do` is repeated until then."""
    path = f"{fleet.folder}/watched"
    with open(path, "wb") as output:
        # Line by line, as on a terminal.
        client = subprocess.Popen(
            ["stdbuf", "-oL", *command], env=fleet.environment | (environment or {}), stdout=output,
            stderr=subprocess.DEVNULL)
    try:
        def seen():
            do()
            time.sleep(every)
            return until in open(path, errors="replace").read()
        eventually(seen, seconds=60)
        client.send_signal(signal.SIGINT)
        client.wait(timeout=20)
    finally:
        client.kill()
        client.wait()
    return open(path, errors="replace").read()
