"""Opens a run's page in Debian's headless Chromium, as a person would.

usage: report.py PATH-OF-FLEETCTL [FOLDER-FOR-SCREENSHOTS]

A run on virtual phones with passes, failures and a skip makes the page. It must raise no error, ask the network for
nothing, need no sideways scrolling at 375 points, be readable in the dark and in the light, and lead to each failure by
Tab and Enter.
"""

import os
import subprocess
import sys
import tempfile

from chromium import Chromium

SCENARIOS = {
    "hello.yaml": "scenario: hello\nsteps:\n  - request: GET /hello\n    expect: {status: 200}\n",
    "teapot.yaml": "scenario: teapot\nsteps:\n  - request: GET /" + "coffee" * 30 + "\n    expect: {status: 418}\n",
    "late.yaml": "scenario: late\nsteps:\n  - request: GET /status\n    expect: {json: {active: never}}\n    retry-within: 2s\n",
    "absent.yaml": "scenario: absent\nneeds: [token-configured]\nsteps:\n  - request: GET /hello\n",
}

WIDTH = "document.documentElement.scrollWidth"
FAILURES = "[...document.querySelectorAll('.bad a')].map(link => link.hash)"
# The contrast that WCAG 2 asks of text, from the colours as they are computed.
CONTRAST = """(() => {
  const part = value => { const c = value / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4 };
  const light = colour => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number); return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b) };
  const behind = node => { for (; node; node = node.parentElement) { const c = getComputedStyle(node).backgroundColor; if (!/, 0\\)$/.test(c)) return c } return 'rgb(255,255,255)' };
  let worst = 21;
  for (const node of document.querySelectorAll('h1,h2,p,a:not(.bar),dt,dd,summary,.verdict,.quiet,code,pre,li')) {
    const [a, b] = [light(getComputedStyle(node).color), light(behind(node))].sort((x, y) => y - x);
    worst = Math.min(worst, (a + 0.05) / (b + 0.05));
  }
  return worst;
})()"""


def make_page(fleetctl, folder):
    for name, text in SCENARIOS.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text)
    out = os.path.join(folder, "out")
    done = subprocess.run(
        [fleetctl, "run", "--virtual", "3", "--ios", "16.7,18.5", "--time-scale", "10", "--report", out,
         "--label", "browser", folder],
        env={**os.environ, "STATE_DIRECTORY": os.path.join(folder, "state")}, stdout=subprocess.DEVNULL, timeout=300)
    assert done.returncode == 1, f"the run that makes the page ended with {done.returncode}"
    return os.path.join(out, "report.html")


def check(page, screenshots):
    address = "file://" + page
    found = []

    def expect(holds, what):
        print(f"{'ok  ' if holds else 'MISS'} {what}", flush=True)
        if not holds:
            found.append(what)

    with Chromium() as browser:
        for name, width, height, dark in (("phone-light", 375, 812, False), ("phone-dark", 375, 812, True),
                                          ("desk-light", 1280, 900, False), ("desk-dark", 1280, 900, True)):
            browser.screen(width, height, dark)
            browser.open(address)
            browser.value("document.querySelectorAll('details').forEach(part => part.open = true)")
            wide = browser.value(WIDTH)
            expect(wide <= width, f"{name}: everything opened, it is {wide} points wide in a window of {width}")
            broken = browser.value("[...document.querySelectorAll('dt')].filter(name => name.offsetHeight > 30).length")
            expect(broken == 0, f"{name}: names of facts stand in one line, but for {broken}")
            contrast = browser.value(CONTRAST)
            expect(contrast >= 4.5, f"{name}: the least contrast of a text is {contrast:.1f}, and 4.5 can be read")
            browser.open(address)
            browser.picture(os.path.join(screenshots, f"report-{name}.png"))
        browser.screen(375, 812)
        browser.open(address)
        failures = browser.value(FAILURES)
        expect(len(failures) >= 6, f"{len(failures)} failures are listed")
        reached = []
        for _ in range(3 * len(failures) + 40):
            browser.press("Tab")
            target = browser.value("document.activeElement.hash || ''")
            if target in failures and target not in reached and browser.value("document.activeElement.closest('.bad') !== null"):
                reached.append(target)
                expect(browser.value("getComputedStyle(document.activeElement).outlineStyle") != "none",
                       f"{target}: where the keyboard is can be seen")
        expect(reached == failures, f"each is reached by Tab: {len(reached)} of {len(failures)}")
        for target in failures:
            browser.open(address)
            browser.value(f"document.querySelector('.bad a[href=\"{target}\"]').focus()")
            browser.press("Enter")
            shown = browser.value(
                f"(() => {{ const box = document.querySelector('{target}').getBoundingClientRect();"
                f" return location.hash === '{target}' && box.height > 0 && box.top < innerHeight && box.bottom > 0 }})()")
            expect(shown, f"{target}: Enter shows it")
        # What is closed opens for whoever comes from the timeline.
        opened = browser.value(
            "(() => { const bar = document.querySelector('.bar.passed'); bar.focus(); return bar.hash })()")
        browser.press("Enter")
        expect(browser.value(f"document.querySelector('{opened}').closest('details').open"),
               "a pass in the timeline opens what it leads to")
        outside = [url for url in browser.requests if not url.startswith(("file://", "data:", "about:"))]
        expect(not outside, f"nothing is asked of the network {outside}")
        expect(not browser.errors, f"no error is raised {browser.errors}")
    return found


def main(fleetctl, screenshots=None):
    with tempfile.TemporaryDirectory() as folder:
        found = check(make_page(os.path.abspath(fleetctl), folder), screenshots or folder)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(*sys.argv[1:3])
