"""A real browser without a window: what it makes of a page, in which width, colours and medium."""

import functools
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    # Nothing on any network can be reached.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-proxy-server",
    # Names and roles as a screen reader gets them.
    "--enable-blink-features=ComputedAccessibilityInfo",
)
# A4 less the margins of the style sheet, in CSS pixels.
PAPER_WIDTH, PAPER_HEIGHT = 680, 1001


@functools.cache
def program() -> str:
    """Where the browser is; tests that need one are left out where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("left out: there is no Chromium on the path")
    return found


def run(page: str, folder: Path, *flags: str, part: str = "") -> subprocess.CompletedProcess[str]:
    """Open a page, alone and with a profile of its own, and wait until the browser ends.

    `part` is what a link to a part of the page has at its end, such as "#risks".
    """
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    with tempfile.TemporaryDirectory() as profile:
        command = [program(), *FLAGS, f"--user-data-dir={profile}", *flags, file.as_uri() + part]
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=True, timeout=120
        )


def count_sheets(page: str, folder: Path) -> list[tuple[int, int]]:
    """Print a page to a PDF file; the width and height of each sheet, in points."""
    written = folder / "page.pdf"
    run(page, folder, f"--print-to-pdf={written}", "--no-pdf-header-footer")
    sheets = re.findall(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", written.read_bytes())
    return [(round(float(width)), round(float(height))) for width, height in sheets]


def printed(page: str) -> str:
    """The page as its style sheet has it on paper, for a look at it on a screen."""
    return page.replace("@media (prefers-color-scheme: dark)", "@media not all").replace(
        "@media print", "@media all"
    )
