"""A real browser without a window that a test steers: go to an address, run script, take a picture.

The protocol is that of Chromium's developer tools: JSON over one websocket.
"""

import base64
import json
import subprocess
import tempfile
import time
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path

from websockets.sync.client import connect

from tests.reports.browser import FLAGS, program

# Nothing but this machine can be reached.
RULES = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
STARTS_WITHIN = 60
NAVIGATED = -32000  # the code of an answer whose page was replaced meanwhile


class NavigatedError(Exception):
    """A script had no answer: another page came."""


class Browser:
    """One tab."""

    def __init__(self, socket):
        self.socket, self.number, self.requested, self.said = socket, 0, [], []
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        self.socket.send(json.dumps(message))
        while True:
            answer = self._receive(60)
            if answer.get("id") == self.number:
                if answer.get("error", {}).get("code") == NAVIGATED:
                    raise NavigatedError(method)
                assert "error" not in answer, (method, answer)
                return answer["result"]

    def _receive(self, timeout):
        answer = json.loads(self.socket.recv(timeout=timeout))
        if answer.get("method") == "Network.requestWillBeSent":
            self.requested.append(answer["params"]["request"]["url"])
        if answer.get("method") == "Log.entryAdded":
            self.said.append(answer["params"]["entry"]["text"])
        return answer

    def evaluate(self, script):
        found = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, (script, found)
        return found["result"].get("value")

    def wait_until(self, script, within=60):
        """Wait until a script is true, also while the page is being replaced; a refusal ends it."""
        last = time.monotonic() + within
        while time.monotonic() < last and not self._shows_alert():
            if self._look(f"document.readyState === 'complete' && Boolean({script})"):
                return
            time.sleep(0.2)
        text = self.evaluate("document.body.innerText")
        raise AssertionError(f"{script} never held; the page says: {text}")

    def _shows_alert(self):
        return self._look("document.querySelector('[role=alert]') !== null")

    def _look(self, script):
        """What a script says now; nothing while the page is being replaced."""
        with suppress(NavigatedError):
            found = self.send("Runtime.evaluate", expression=script, returnByValue=True)
            return found["result"].get("value")
        return None

    def go_to(self, address):
        self.send("Page.navigate", url=address)
        self.wait_until(f"location.href !== 'about:blank' && {json.dumps(address)}")

    def act(self, script):
        """Run a script that loads another page, and wait for that."""
        with suppress(NavigatedError):  # it may be there before the answer is
            self.evaluate(f"window.before = true; {script}; 0")
        self.wait_until("!window.before")

    def resize(self, width, *, dark=False):
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=900, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def photograph(self, file):
        shot = self.send("Page.captureScreenshot", captureBeyondViewport=True)
        Path(file).write_bytes(base64.b64decode(shot["data"]))


@contextmanager
def browsing(folder):
    """A tab of a browser with a profile of its own in this folder."""
    profile = Path(tempfile.mkdtemp(prefix="profile-", dir=folder))
    flags = [flag for flag in FLAGS if "host-resolver-rules" not in flag]
    process = subprocess.Popen(
        [program(), *flags, RULES, f"--user-data-dir={profile}", "--remote-debugging-port=0",
         "about:blank"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with connect(_find_tab(profile), max_size=None) as socket:
            yield Browser(socket)
    finally:
        process.terminate()
        process.wait(30)


def _find_tab(profile):
    last = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < last:
        try:
            port = (profile / "DevToolsActivePort").read_text().split()[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
                tabs = [each for each in json.load(answer) if each["type"] == "page"]
            return tabs[0]["webSocketDebuggerUrl"]
        except (OSError, IndexError, ValueError):
            time.sleep(0.2)
    raise AssertionError("the browser did not start")
