"""What a browser makes of pages: axe's rules of accessibility, and what they do not measure."""

import json
import re
from pathlib import Path
from typing import Any

from tests.reports import browser
from tests.support.devtools import browsing
from tests.support.validators import VALIDATORS

TALLEST = 10**6
SCREENS = [(1280, False), (390, True), (390, False), (1280, True)]  # width, dark
PROBE = Path(__file__).with_name("probe.js").read_text(encoding="utf-8")
# Frames hold other pages, which are measured by themselves.
RULES = "axe.run(document, {iframes: false, preload: false, resultTypes: ['violations']})"
FOUND = """.then((all) => all.violations.map((each) => ({
  rule: each.id, impact: each.impact, where: each.nodes.map((node) => node.html.slice(0, 120)),
})))"""


def measure_pages(
    pages, width, folder, *, dark=False, tallest=TALLEST, opened=True
) -> dict[str, Any]:
    """Measure each of these texts in a browser at a width, all folds opened or closed."""
    found = {}
    with browsing(folder) as tab:
        tab.resize(width, dark=dark)
        for name, page in pages.items():
            file = folder / "page.html"
            file.write_text(page, encoding="utf-8")
            tab.go_to(file.as_uri())
            tab.evaluate(
                "document.querySelectorAll('details').forEach("
                f"(each) => each.open = {json.dumps(opened)}); 0"
            )
            found[name] = measure_page(tab, tallest)
    return found


def measure_page(tab, tallest=TALLEST) -> dict[str, Any]:
    """What the probe and axe find on the page of a tab, as it stands."""
    # Braces: the names of the probe end with them.
    found = tab.evaluate(f"{{ {PROBE}; measure({tallest}) }}")
    tab.evaluate(f"{_axe()}; 0")
    return {**found, "axe": tab.evaluate(RULES + FOUND)}


def require_readable_report(text, screen, folder, drawings) -> None:
    """A report has these many drawings and no fault, opens short, and prints on few sheets."""
    width, dark = screen
    found = measure_pages({"report": text}, width, folder, dark=dark)["report"]
    assert (found["width"], found["dark"]) == screen
    assert len(found["drawings"]) == drawings
    assert complaints(found) == {}
    found = measure_pages({"report": text}, width, folder, dark=dark, opened=False)["report"]
    assert found["folds"] == 12
    assert found["height"] <= {390: 8 * 844, 1280: 5 * 800}[width]
    assert found["overflow"] <= 0
    # What is folded has no role and no name until it is opened.
    assert complaints(found).keys() <= {"drawings", "unnamed"}
    if not dark:  # paper has no colours of its own
        assert 2 <= len(browser.count_sheets(text, folder)) <= 5


def complaints(entry: dict[str, Any]) -> dict[str, Any]:
    """The faults among the measurements of a page."""
    named = all(
        re.fullmatch(r"(?:image|img): (?:Line|Bar) chart of .+", drawing)
        for drawing in entry["drawings"]
    )
    good = {
        "drawings": named,
        **{
            name: not entry[name]
            for name in (
                *("axe", "beyond", "cut", "faint", "unnamed", "unreachable", "adrift"),
                "stuck",
            )
        },
        "overflow": entry["overflow"] <= 0,
    }
    return {name: entry[name] for name, holds in good.items() if not holds}


def broken_rules(entry: dict[str, Any]) -> set[str]:
    """The rules of axe that a page breaks."""
    return {each["rule"] for each in entry["axe"]}


def _axe() -> str:
    """The script of axe-core; `make validators` installs it."""
    (file,) = VALIDATORS.glob("lib/python*/site-packages/axe_playwright_python/axe.min.js")
    return file.read_text(encoding="utf-8")
