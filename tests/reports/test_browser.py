"""Report and verdict page in a browser: they load nothing, fit, are readable, and print."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread

from tests.reports import browser, samples
from tests.reports.of_tables import render_page, render_verdicts
from tests.support.pages import broken_rules, complaints, measure_pages
from tests.support.soaking import soak_after

pytestmark = pytest.mark.slow  # a browser draws every page at two widths and on paper

PAGES: dict[str, Callable[[], str]] = {
    "full": lambda: render_page(samples.full(), samples.crowds()),
    "alarming": lambda: render_page(samples.alarming(), samples.crowds()),
    "some": lambda: render_page(samples.uniform(20), samples.crowds()),
    "old": lambda: render_page(samples.old(), samples.crowds()),
    "version": lambda: render_page(samples.version(), samples.crowds(k=(10, 10))),
    "broken": lambda: render_page(samples.broken("matchable_below_k"), samples.crowds(short=12)),
    "unprotected": lambda: render_page(samples.unprotected(), samples.crowds(k=(1, 100))),
    "wide": lambda: render_page(
        samples.full(columns=samples.HOSTILE * 3, iterations=50), samples.crowds()
    ),
    "passed": lambda: render_verdicts(
        samples.run("people v1"), samples.verdicts(columns=samples.HOSTILE * 3)
    ),
    "refused": lambda: render_verdicts(
        samples.run(), samples.verdicts(columns=samples.HOSTILE, refused_at="required")
    ),
    "under way": lambda: render_verdicts(
        samples.run(), samples.verdicts(columns=samples.HOSTILE * 3)[:3]
    ),
}
REPORTS = ("full", "alarming", "some", "old", "version", "unprotected", "wide")
MOST_SHEETS = 5
FOREIGN = "http://elsewhere.invalid/x.png"
# The change of a page, and the fault that the browser must then report.
FLAWS: dict[str, tuple[str, str, str]] = {
    "a wide box": ("<h1>", '<div style="min-width: 2000px">x</div><h1>', "overflow"),
    "a stray box": ("<h1>", '<p style="position: absolute; left: 900px">x</p><h1>', "beyond"),
    "a box taller than paper": (
        "<h1>",
        '<div style="height: 1200px; break-inside: avoid">x</div><h1>',
        "cut",
    ),
    "faint marks": ("--second: #9a5a17", "--second: #edd8c2", "faint"),
    "an unnamed drawing": ("<title id=", "<title hidden>x</title><title data-id=", "drawings"),
    "an unnamed table": ("<caption>Checks of this release</caption>", "", "unnamed"),
    "a table out of reach": ('tabindex="0"', "", "unreachable"),
    "a link to nowhere": ('href="#risks"', 'href="#risk"', "adrift"),
    "a fold out of reach": ("<summary>", '<summary tabindex="-1">', "stuck"),
    "a fold that stays shut": ("<summary>", "<summary>x</summary><summary>", "stuck"),
}
# The change of a page, and the rule of axe that it then breaks.
BREACHES: dict[str, tuple[str, str, str]] = {
    "faint text": ("--muted: #56616e", "--muted: #96a1ae", "color-contrast"),
    "no language": ('lang="en"', "", "html-has-lang"),
    "a heading left out": ("<h1>", "<h1>x</h1><h4>x</h4><h1>", "heading-order"),
    "no main part": ("<main>", '<main role="presentation">', "landmark-one-main"),
}


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: make() for name, make in PAGES.items()}


@pytest.fixture(
    scope="module",
    params=soak_after(2, [(360, False), (1280, True), (360, True), (1280, False)]),
    ids=str,
)
def judged(request, pages, tmp_path_factory) -> dict[str, Any]:
    """The browser's measurements of every page, by width and colours."""
    width, dark = request.param
    found = measure_pages(pages, width, tmp_path_factory.mktemp("judged"), dark=dark)
    assert found.keys() == PAGES.keys()
    assert all((entry["width"], entry["dark"]) == (width, dark) for entry in found.values())
    return found


@pytest.fixture(scope="module")
def flawed(pages, tmp_path_factory) -> dict[str, Any]:
    """The browser's measurements of a page with one fault."""
    made = {
        flaw: pages["full"].replace(was, becomes, 1)
        for flaw, (was, becomes, _) in {**FLAWS, **BREACHES}.items()
    }
    assert all(html != pages["full"] for html in made.values())
    return measure_pages(made, 360, tmp_path_factory.mktemp("flawed"), tallest=browser.PAPER_HEIGHT)


def test_everybody_can_read_it(judged) -> None:
    assert all(entry["texts"] > 200 for entry in judged.values())
    assert len(judged["full"]["drawings"]) == 5
    assert {name: complaints(entry) for name, entry in judged.items()} == {
        name: {} for name in judged
    }


@pytest.mark.parametrize("flaw", FLAWS)
def test_every_complaint_can_be_made(flawed, flaw: str) -> None:
    assert FLAWS[flaw][2] in complaints(flawed[flaw])


@pytest.mark.parametrize("flaw", BREACHES)
def test_rules_of_axe_are_checked(flawed, flaw: str) -> None:
    assert BREACHES[flaw][2] in broken_rules(flawed[flaw])
    assert "axe" in complaints(flawed[flaw])


def test_no_request_leaves_and_the_console_is_silent(pages, tmp_path) -> None:
    assert all(asked(html, tmp_path) == ([], []) for html in pages.values())


def test_the_policy_of_the_page_keeps_out_what_it_would_load(pages, tmp_path) -> None:
    said, requested = asked(pages["full"].replace("<h1>", f'<img src="{FOREIGN}"><h1>'), tmp_path)
    assert any(FOREIGN in words for words in said)
    assert requested == []


def test_a_request_would_be_seen(pages, tmp_path) -> None:
    lax = (
        pages["full"]
        .replace("default-src 'none'", "default-src *")
        .replace("<h1>", f'<img src="{FOREIGN}"><h1>')
    )
    assert asked(lax, tmp_path)[1] == [FOREIGN]


def test_prints_on_a4_without_cutting_anything(pages, tmp_path) -> None:
    paper = {name: browser.printed(html) for name, html in pages.items()}
    found = measure_pages(
        paper, browser.PAPER_WIDTH, tmp_path, dark=True, tallest=browser.PAPER_HEIGHT
    )
    # A printed page has no links.
    assert {name: complaints(entry).keys() - {"unnamed"} for name, entry in found.items()} == {
        name: set() for name in found
    }
    sheets = browser.count_sheets(pages["full"], tmp_path)
    assert 2 <= len(sheets) <= MOST_SHEETS
    assert set(sheets) == {(595, 842)}
    # Adding folds adds sheets: what a reader opened is printed.
    opened = pages["full"].replace("<details", "<details open")
    assert len(browser.count_sheets(opened, tmp_path)) > len(sheets)


@pytest.mark.parametrize(("width", "screen", "most"), [(1280, 800, 5), (390, 844, 8)])
def test_a_report_is_short_as_it_opens(pages, tmp_path, width: int, screen: int, most: int) -> None:
    reports = {name: pages[name] for name in REPORTS}
    found = measure_pages(reports, width, tmp_path, opened=False)
    for name, entry in found.items():
        assert entry["folds"] >= 12, name
        assert entry["height"] <= most * screen, name
        # What is folded has no role and no name until it is opened.
        assert complaints(entry).keys() <= {"drawings", "unnamed"}, name
    if width == 1280:
        assert found["full"]["decided"] <= screen


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_needs_few_sheets(pages, tmp_path, name: str) -> None:
    assert 2 <= len(browser.count_sheets(pages[name], tmp_path)) <= MOST_SHEETS


def test_a_link_to_a_part_of_the_report_opens_its_fold(pages, tmp_path) -> None:
    dumped = browser.run(pages["full"], tmp_path, "--dump-dom", part="#risks").stdout
    opened = re.findall(r'<details class="[a-z ]+" open="">.*?<h2>(.*?)</h2>', dumped, re.DOTALL)
    assert opened == ["Singling out, linkability, inference"]
    assert "open" not in re.findall(r"<details[^>]*>", pages["full"])[0]


@pytest.mark.parametrize(("width", "dark"), [(500, False), (1440, True)])
def test_is_drawn(pages, tmp_path, width: int, dark: bool) -> None:
    colours = f"--blink-settings=preferredColorScheme={int(not dark)}"
    browser.run(
        pages["full"],
        tmp_path,
        f"--screenshot={tmp_path / 'page.png'}",
        f"--window-size={width},2000",
        colours,
    )
    drawn = (imread(tmp_path / "page.png")[..., :3] * 255).round().astype(np.int64) @ (
        1 << 16,
        1 << 8,
        1,
    )
    assert drawn.shape[1] == width
    colours, pixels = np.unique(drawn, return_counts=True)
    ground = int(colours[pixels.argmax()])
    assert (ground & 0xFF < 64) == dark
    assert len(colours) > 100
    assert pixels.max() < 0.95 * drawn.size


def asked(html: str, folder: Path) -> tuple[list[str], list[str]]:
    """The browser's error messages, and the page's network requests."""
    log = folder / "net.json"
    done = browser.run(
        html, folder, "--dump-dom", "--enable-logging=stderr", "--v=0", f"--log-net-log={log}"
    )
    events = log.read_text(encoding="utf-8").splitlines()
    # The browser's own requests have no origin; they fail.
    started = [
        event
        for event in events
        if '"initiator":' in event and '"initiator":"not an origin"' not in event
    ]
    return re.findall(r"CONSOLE.*", done.stderr), re.findall(r'"url":"([^"]*)"', "\n".join(started))
