"""The markdown and the terminal view of a release."""

import io
import re
import subprocess
import sys

import pytest
from rich.console import Console

from crowdcover.kinds.table.report.words import WORDS
from crowdcover.reports import quantities
from crowdcover.reports.facts import Manifest
from crowdcover.reports.terminal import summary
from tests.reports.of_tables import holds, markdown, terminal
from tests.reports.samples import HOSTILE, alarming, broken, full, manifest

TOLD = ("43", "321", "illness", "1.75", "0.62")
NUMBERS = (
    "500",
    "0.906",
    "55.1 %",
    "11.2 %",
    "104",
    "50.0 %",
    "90.0 %",
    "49,852",
    "2 min 9 s",
    "858 MiB",
)


def shown(release: Manifest, width: int = 80, terminal: bool = False) -> str:
    """What the terminal view prints."""
    screen = io.StringIO()
    summary.print_release(
        release, Console(file=screen, width=width, force_terminal=terminal), WORDS
    )
    return screen.getvalue()


@pytest.mark.parametrize("show", [markdown, shown])
def test_what_crowds_tell_is_shown_where_it_was_measured(show) -> None:
    assert all(told in show(manifest()) for told in TOLD)
    old = manifest()
    del old["protection"], old["columns"]
    assert not any(
        told in show(old) for told in ("illness", "1.75", "Over-protection", "Sensitive column")
    )


def test_markdown_holds_the_numbers() -> None:
    text = markdown(manifest())
    assert text.startswith("# sample v7\n")
    assert "**The privacy promise holds, with 1 warning.**" in text
    assert "**The privacy promise holds.**" in markdown(full())
    for number in NUMBERS:
        assert number in text, number
    assert "| age | 50.0 % | 90.0 % |" in text


def test_terminal_holds_the_numbers() -> None:
    text = shown(manifest())
    assert "sample v7: the privacy promise holds" in text
    for number in NUMBERS:
        assert number in text, number


@pytest.mark.parametrize("width", [40, 80, 200])
def test_terminal_keeps_to_its_width_and_is_plain_in_a_pipe(width: int) -> None:
    text = shown(manifest(columns=HOSTILE, iterations=50), width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text


def test_terminal_uses_colour_on_a_terminal() -> None:
    assert "\x1b[" in shown(manifest(), terminal=True)


def test_terminal_survives_an_ascii_pipe() -> None:
    raw = io.BytesIO()
    screen = io.TextIOWrapper(raw, encoding="ascii", errors="strict")
    for release in (manifest(), alarming()):
        terminal(release, Console(file=screen, width=80))
    screen.flush()
    assert raw.getvalue().count(b"0.906") == 2


@pytest.mark.parametrize("key", ["below_k", "matchable_below_k", "untruthful_rows"])
@pytest.mark.parametrize("found", [12, None])
def test_a_failed_or_missing_check_shows(key: str, found: int | None) -> None:
    release = broken(key, found)
    assert not holds(release)
    for text in (markdown(release), shown(release, 200)):
        assert "does not hold" in text
        assert "Do not use this release" in text
        assert "fails" in text
        assert ("12" if found else quantities.NOT_STATED) in text


@pytest.mark.parametrize("show", [markdown, lambda release: shown(release, 200)])
def test_attacks_approval_and_earlier_releases_are_shown_where_they_are_recorded(show) -> None:
    said = (
        "An insider",
        "no better",
        "1 in 33",
        "R. Okafor",
        "numbers read, k as agreed",
        "People in both",
        "v6",
    )
    text = show(full())
    assert [words for words in said if words not in text] == []
    assert [words for words in said if words in show(manifest())] == []
    assert "no attacks" not in show(full()).lower()


@pytest.mark.parametrize("show", [markdown, lambda release: shown(release, 200)])
def test_what_else_does_not_hold_is_said(show) -> None:
    text = re.sub(r"[\s\u2502]+", " ", show(alarming()))
    for words in (
        "120 of 500 people (24.0 %) fit only rows",
        "8.2 % instead of 3.0 % on average",
        "better",
        "none is recorded",
    ):
        assert words in text, words
    assert "Before you use this release" not in markdown(full())


def test_markdown_escapes_hostile_names() -> None:
    text = markdown(manifest(columns=HOSTILE))
    assert "\x1b" not in text
    assert not re.search(
        r"[<>\[\]`$|*]|://|www\.", "".join(re.findall(r"(?m)^\| (.*?) \| 5\d\.\d % \|", text))
    )
    tables = [line for line in text.splitlines() if line.startswith("|")]
    rows = [line for line in tables if re.search(r"\| 5\d\.\d % \| 9\d\.\d % \|$", line)]
    assert len(rows) == len(HOSTILE)
    assert all(line.count("|") == 4 for line in rows)


def test_words_of_our_own_need_no_escapes() -> None:
    """Prefect's page shows what stands in a table as it is, entities and all."""
    release = full()
    release["attacks"]["order"]["success"] = 1e-6
    text = markdown(release)
    assert "under 0.1 %" in text
    assert "| - |" in text
    assert text.count("&#") == text.count("privacy&#64;clinic") == 1


def test_terminal_shows_hostile_names_as_they_are() -> None:
    text = shown(manifest(columns=HOSTILE), 200, terminal=True)
    assert "[red]x[/red]" in text
    assert "<script>alert(1)</script>" in text
    assert "\x1b[31mred" not in text
    assert "\u202e" not in text


def test_a_long_run_is_shortened_around_the_published_iteration() -> None:
    release = manifest(iterations=50)
    release["iterations"][20]["weighted_utility"] = 0.99
    text = markdown(release)
    assert "21 (kept)" in text
    assert "16 more" in text
    assert "25 more" in text


@pytest.mark.parametrize("iterations", [0, 1, 12])
def test_short_runs_are_shown_whole(iterations: int) -> None:
    text = markdown(manifest(iterations=iterations))
    assert "more" not in text.split("## Run")[1]
    assert ("(kept)" in text) == (iterations > 0)


def test_importing_is_cheap() -> None:
    code = (
        "import sys, crowdcover.reports.terminal.summary; "
        "print(*({'numpy', 'matplotlib', 'jinja2', 'rich'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (quantities.percent(0.5), "50.0 %"),
        (quantities.percent(1), "100.0 %"),
        (quantities.percent(0.99999), "over 99.9 %"),
        (quantities.percent(0.00001), "under 0.1 %"),
        (quantities.percent(0), "0.0 %"),
        (quantities.percent(None), quantities.NOT_STATED),
        (quantities.percent(float("nan")), quantities.NOT_STATED),
        (quantities.utility(0.99999), "0.999"),
        (quantities.utility(1.0), "1.000"),
        (quantities.count(1234567), "1,234,567"),
        (quantities.count(None), quantities.NOT_STATED),
        (quantities.seconds(0.456), "0.46 s"),
        (quantities.seconds(12.34), "12.3 s"),
        (quantities.seconds(119.7), "2 min 0 s"),
        (quantities.seconds(7325), "2 h 2 min"),
        (quantities.one_in(1 / 12), "1 in 12"),
        (quantities.one_in(0.0801), "1 in 12.4"),
        (quantities.one_in(0.0811), "1 in 12.3"),
        (quantities.one_in(0.0301), "1 in 33"),
        (quantities.one_in(0.7), "70.0 %"),
        (quantities.one_in(0), "0.0 %"),
        (quantities.one_in(None), quantities.NOT_STATED),
        (quantities.size(512), "512 B"),
        (quantities.size(5 * 2**30), "5.0 GiB"),
        (quantities.size(900_000_000), "858 MiB"),
        (quantities.moment("2026-11-20T21:30:00Z"), "2026-11-20 21:30 UTC"),
        (quantities.moment("soon"), quantities.NOT_STATED),
    ],
)
def test_numbers_read_well_and_never_better_than_they_are(said: str, expected: str) -> None:
    assert said == expected
