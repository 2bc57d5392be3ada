"""Debian's headless Chromium, spoken to over a pair of pipes: no driver and no port."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Chromium:
    """One tab. What goes wrong in a page is collected in `errors`, what it asks the network for in `requests`."""

    def __init__(self, program="chromium"):
        self.folder = tempfile.mkdtemp(prefix="chromium-")
        down, self.input = os.pipe()
        self.output, up = os.pipe()

        def place():
            # The browser reads its orders from descriptor 3 and answers on 4; neither may be lost to the other's move.
            kept = os.dup(up)
            os.dup2(down, 3)
            os.dup2(kept, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-extensions", "--hide-scrollbars", f"--user-data-dir={self.folder}", "--remote-debugging-pipe",
             "about:blank"],
            preexec_fn=place, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)
        self.buffer, self.number, self.session = b"", 0, None
        self.events, self.errors, self.requests = [], [], []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for end in (self.input, self.output):
            os.close(end)
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, method, **parameters):
        self.number += 1
        order = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            order["sessionId"] = self.session
        os.write(self.input, json.dumps(order).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            message = self._message(deadline)
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self._note(message)

    def wait(self, method, seconds=60):
        deadline = time.monotonic() + seconds
        while True:
            for place, message in enumerate(self.events):
                if message["method"] == method:
                    del self.events[: place + 1]
                    return message["params"]
            self._note(self._message(deadline))

    def _message(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.output], [], [], max(0, deadline - time.monotonic()))
            part = os.read(self.output, 1 << 16) if ready else b""
            if not part:
                raise RuntimeError("the browser says nothing more")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(line)

    def _note(self, message):
        method, told = message.get("method"), message.get("params", {})
        self.events.append(message)
        if method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.errors.append(told["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(told["exceptionDetails"].get("text", "exception"))
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
            self.errors.append(str(told["args"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])

    def screen(self, width, height, dark=False):
        """The size of the window, in points, and the looks that the person prefers."""
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, address):
        self.events.clear()
        self.ask("Page.navigate", url=address)
        self.wait("Page.loadEventFired")

    def value(self, script):
        """What a script comes to in the page."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def press(self, key):
        codes = {"Tab": 9, "Enter": 13}
        text = {"text": "\r"} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=codes[key], **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=codes[key])

    def picture(self, path, whole=False):
        data = self.ask("Page.captureScreenshot", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
