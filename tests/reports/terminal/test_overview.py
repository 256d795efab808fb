"""`crowdcover show` on one screen: what it says, and that it never says more."""

import copy
import io
import re
import subprocess
import sys

import pytest
from rich.console import Console

from crowdcover.kinds.table.report.words import WORDS
from crowdcover.reports import decisions
from crowdcover.reports.facts import Manifest
from crowdcover.reports.risk_lines import list_risk_lines
from crowdcover.reports.terminal.overview import MOST_LINES, print_overview
from tests.reports import samples
from tests.reports.of_tables import verdict

PLACE = "releases/sample/v7"
MADE = {
    "full": samples.full,
    "manifest": samples.manifest,
    "alarming": samples.alarming,
    "matchable": samples.matchable,
    "old": samples.old,
    "rows": samples.of_rows,
    "unprotected": samples.unprotected,
    "nobody": lambda: samples.unprotected(500),
    "broken": samples.broken,
    "not checked": lambda: samples.broken(found=None),
    "one value": lambda: samples.uniform(20, wealth=11, creed=7, party=5),
    "first version": lambda: samples.version(1),
    "version": samples.version,
    "wide": lambda: samples.full(columns=samples.HOSTILE * 3),
}


def shown(release: Manifest, width: int = 80, alarm: str = "", *, terminal: bool = False) -> str:
    screen = io.StringIO()
    console = Console(file=screen, width=width, force_terminal=terminal, markup=False)
    print_overview(release, console, WORDS, PLACE, alarm)
    return screen.getvalue()


def flat(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("width", [80, 100, 200])
@pytest.mark.parametrize("name", MADE)
def test_it_is_one_screen(name: str, width: int) -> None:
    text = shown(MADE[name](), width)
    lines = text.splitlines()
    assert len(lines) <= MOST_LINES
    assert max(map(len, lines[:-1])) <= width
    assert len(lines) - 1 + -(-len(lines[-1]) // width) <= MOST_LINES  # broken by the terminal
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize("name", MADE)
def test_it_says_risks_numbers_and_where_to_read_on(name: str) -> None:
    release = MADE[name]()
    text, judged = flat(shown(release)), verdict(release)
    assert f"{judged.heading[:1].lower()}{judged.heading[1:]}" in text
    # A promise that is broken is said whole; else the lines say of whom it is true.
    assert (judged.paragraph in text) == (judged.tone == "fails")
    for line in list_risk_lines(release, WORDS):
        first = flat(f"{line.question} {line.people}".strip())
        assert (first in text) == (judged.tone != "fails")
        assert judged.tone == "fails" or line.limit in text
    for fact in WORDS.headline(release):
        assert f"{fact.value} {fact.label}" in text
    assert f"{PLACE}/report.html" in text
    assert text.endswith(f"crowdcover show {PLACE} --all")


@pytest.mark.parametrize("name", MADE)
def test_each_point_is_shown_or_counted(name: str) -> None:
    release = MADE[name]()
    judged = verdict(release)
    points = [notice.text for notice in judged.notices]
    if judged.tone != "fails":
        points += [decision.text for decision in decisions.list_decisions(release)]
    text = flat(shown(release))
    first = [flat(re.split(r"(?<=[.?]) (?=[A-Z0-9])", point)[0]) for point in points]
    missing = [place for place, point in enumerate(first) if point not in text]
    # The gravest stand first, so only the last ones are left out.
    assert missing == list(range(len(points) - len(missing), len(points)))
    counted = re.search(r"(\d+) more points? to look at", text)
    assert (int(counted[1]) if counted else 0) == len(missing)


def test_many_warnings_leave_no_more_lines() -> None:
    release = copy.deepcopy(samples.alarming())
    release["protection"]["unique_values"] = {f"column {place}": 400 for place in range(9)}
    text = shown(release)
    assert len(text.splitlines()) <= MOST_LINES
    assert "more points to look at" in flat(text)


def test_what_must_not_be_overlooked_stands_first() -> None:
    text = shown(samples.full(), alarm="RETRACTED by Ada at noon: a reason")
    assert text.splitlines()[0].rstrip() == "RETRACTED by Ada at noon: a reason"
    assert len(text.splitlines()) <= MOST_LINES


def test_a_release_that_fails_asks_for_no_decision() -> None:
    text = flat(shown(samples.broken()))
    assert "Do not use this release" in text
    assert "anonymous for those who get it" not in text
    assert "anonymous for those who get it" in flat(shown(samples.full()))


def test_colours_are_for_terminals() -> None:
    assert "\x1b[" in shown(samples.full(), terminal=True)


def test_importing_is_cheap() -> None:
    code = (
        "import sys, crowdcover.reports.terminal.overview; "
        "print(*({'numpy', 'matplotlib', 'jinja2', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
