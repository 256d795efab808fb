"""What `crowdcover diff` and other commands print as tables: names as they are, numbers in form."""

import re

import pytest
from rich.table import Table

from crowdcover.kinds import words_called
from crowdcover.reports.terminal.difference import build_difference_tables, compare_manifests
from crowdcover.reports.terminal.printing import print_tables
from crowdcover.reports.terminal.run_list import list_run_lines, list_waiting_lines
from tests.reports import samples

NAMES = ("[/b]", "[red]x", ":smile:", "a [b] c", "x[")


def graph(**utility):
    return {
        "name": "g", "version": "v1", "source": {"kind": "graph"}, "privacy": {},
        "utility": utility, "columns": {},
    }  # fmt: skip


def printed(capsys, tables):
    print_tables(tables)
    return capsys.readouterr().out


def test_names_are_shown_as_they_are(capsys):
    """rich reads [brackets] as markup and :colons: as pictures."""
    old, new = samples.manifest(columns=NAMES), samples.manifest(columns=NAMES[:1])
    old["version"], new["version"] = "[/v1]", "[bold]v2"
    new["privacy"]["promise"] = list(NAMES)
    old["utility"] |= {"[odd]_number": 0.25}
    words = words_called("table")
    change = compare_manifests(old, new, words)
    change["published"] = {name: {"at_least": 0.1, "at_most": 0.2} for name in NAMES}
    *_, promise, numbers, columns, moved = build_difference_tables(change, words)
    for table in (promise, columns, moved):
        text = printed(capsys, [table])
        assert [name for name in NAMES if name not in text] == []
    assert "[/v1]" in printed(capsys, [numbers])
    assert "[odd] number" in printed(capsys, [numbers])


@pytest.mark.parametrize("name", NAMES)
def test_names_of_plans_are_shown_as_they_are(capsys, name):
    entry = {
        "run": "r", "name": name, "kind": "table", "state": "waits", "words": name, "rows": 1,
        "since": "", "reason": "", "until": "", "asked": "", "requested_by": name, "report": name,
        "copy": "", "decide": "", "sign": "", "verdict": "",
    }  # fmt: skip
    assert printed(capsys, [list_run_lines([entry])]).count(name) == 2
    assert printed(capsys, list_waiting_lines([entry])).count(name) == 3
    table = Table(name, title=name)
    table.add_row(name)
    assert printed(capsys, [table]).count(name) == 3


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("isolated", 1, "1"),
        ("triangles_released", 1, "1"),
        ("edges", 1200, "1,200"),
        ("path_length", 0.8, "0.80"),
        ("path_length_released", 3.25, "3.25"),
        ("degree_error", 0.12, "0.12"),
        ("connected", 1.0, "100.0 %"),
        ("discrepancy", 0.05, "5.0 %"),
        ("of_a_later_version", 1200, "1,200"),
        ("of_a_later_version", 0.5, "0.50"),
    ],
)
def test_numbers_have_the_form_that_their_kind_declares(capsys, name, value, shown):
    words = words_called("graph")
    change = compare_manifests(graph(**{name: value}), graph(), words)
    numbers = build_difference_tables(change, words)[1]
    assert numbers.title.plain == "Numbers"
    *_, line = printed(capsys, [numbers]).strip().splitlines()
    assert re.split(r"\s{2,}", line.strip())[1:] == [shown, "not stated"]
