"""Opens the supervisor's page in Debian's headless Chromium, as a person would.

usage: page.py PATH-OF-PAGESTAGE [FOLDER-FOR-SCREENSHOTS]

The page shows bodies of every kind, with what phones and people may write. It must raise no error, ask nobody but its own
server, need no sideways scrolling at 375 points, be readable in the dark, in the light and without a script, and follow
what changes without being loaded again.
"""

import os
import secrets
import subprocess
import sys
import tempfile
import time

from chromium import Chromium
from report import CONTRAST, WIDTH

TEXTS = CONTRAST.replace("'h1,h2,p,a:not(.bar),dt,dd,summary,.verdict,.quiet,code,pre,li'",
                         "'h1,h2,h3,p,b,span,dt,dd,time,code,li,footer'")


class Stage:
    """The page over bodies that change when they are told to."""

    def __init__(self, program, *token_file):
        self.process = subprocess.Popen([program, *token_file], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://"), self.address

    def next_scene(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline().strip() == "done"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def check(stage, guarded, token, screenshots):
    found = []

    def expect(holds, what):
        print(f"{'ok  ' if holds else 'MISS'} {what}", flush=True)
        if not holds:
            found.append(what)

    with Chromium() as browser:

        def soon(script, what, seconds=10):
            deadline = time.monotonic() + seconds
            while not browser.value(script):
                if time.monotonic() > deadline:
                    return expect(False, what)
                time.sleep(0.05)
            expect(True, what)

        for name, width, height, dark in (("phone-light", 375, 812, False), ("phone-dark", 375, 812, True),
                                          ("desk-light", 1280, 900, False), ("desk-dark", 1280, 900, True)):
            browser.screen(width, height, dark)
            browser.open(stage.address)
            wide = browser.value(WIDTH)
            expect(wide <= width, f"{name}: it is {wide} points wide in a window of {width}")
            contrast = browser.value(TEXTS)
            expect(contrast >= 4.5, f"{name}: the least contrast of a text is {contrast:.1f}, and 4.5 can be read")
            cards = browser.value("document.querySelectorAll('.card').length")
            expect(cards == 18, f"{name}: {cards} bodies")
            browser.picture(os.path.join(screenshots, f"page-{name}.png"), whole=True)
        first = browser.value("[...document.querySelectorAll('.card')].sort((a, b) => a.getBoundingClientRect().top -"
                              " b.getBoundingClientRect().top)[0].className")
        expect(first == "card sick", "sick ones come first")
        rows = browser.value("document.querySelectorAll('#rows li').length")
        expect(rows == 50, f"{rows} of 10,000 rows are shown")
        expect(browser.value("document.querySelector('img') === null && document.querySelectorAll('script').length === 1"),
               "what phones call themselves is text")

        soon("document.getElementById('live').textContent.includes('live')", "it says that it is live")
        old = browser.value("document.querySelector('.card.sick .now time').textContent")
        soon(f"document.querySelector('.card.sick .now time').textContent !== '{old}'", "times are counted on")
        loads = sum(url == stage.address for url in browser.requests)
        stage.next_scene()
        soon("[...document.querySelectorAll('.card.sick h3')].some(title => title.textContent === 'hall')",
             "a body that falls silent is told")
        soon("document.querySelector('#rows li').value === 10001 && document.querySelectorAll('#rows li').length === 50",
             "its row is told, and the oldest one goes")
        stage.next_scene()
        soon("(names => names.includes('newcomer') && !names.includes('stairs'))"
             "([...document.querySelectorAll('.card h3')].map(title => title.textContent))",
             "a body that was taken away is gone, and another is there")
        stage.next_scene()
        soon("document.title.startsWith('Host: ') && document.querySelector('#head .notice.bad') !== null",
             "trouble of the host stands above everything")
        browser.picture(os.path.join(screenshots, "page-host-trouble.png"))
        expect(sum(url == stage.address for url in browser.requests) == loads, "all that without being loaded again")

        browser.screen(375, 812)
        browser.ask("Emulation.setScriptExecutionDisabled", value=True)
        browser.open(stage.address)
        browser.picture(os.path.join(screenshots, "page-no-script.png"))
        browser.ask("Emulation.setScriptExecutionDisabled", value=False)
        text = browser.value("document.body.innerText")
        expect("entrance" in text and "it asks for its passcode" in text and "locked/passcode" in text,
               "without a script it can be read")
        expect(not browser.value("document.getElementById('live').textContent"), "and does not claim to be live")

        expect(not browser.errors, f"no error is raised {browser.errors}")
        browser.open(guarded.address)
        expect(browser.value("document.querySelectorAll('.card').length") == 0, "a page with a token is not shown without it")
        # The browser itself notes the 401, as it should.
        expect(all("401" in error for error in browser.errors), f"and nothing else goes wrong {browser.errors}")
        browser.errors.clear()
        browser.open(guarded.address.replace("http://", f"http://any:{token}@"))
        expect(browser.value("document.querySelectorAll('.card').length") == 18, "with the token as a password it is")
        soon("document.getElementById('live').textContent.includes('live')", "and it is live")
        known = (stage.address, guarded.address, "data:", "about:")
        asked = [url.replace(f"any:{token}@", "") for url in browser.requests]
        outside = [url for url in asked if not url.startswith(known)]
        expect(not outside, f"nothing is asked of others {outside}")
        expect(not browser.errors, f"no error is raised {browser.errors}")
    return found


def main(program, screenshots=None):
    program, token = os.path.abspath(program), secrets.token_urlsafe(16)
    with tempfile.TemporaryDirectory() as folder:
        token_file = os.path.join(folder, "token")
        with open(token_file, "w") as file:
            file.write(token)
        with Stage(program) as stage, Stage(program, token_file) as guarded:
            found = check(stage, guarded, token, screenshots or folder)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(*sys.argv[1:3])
