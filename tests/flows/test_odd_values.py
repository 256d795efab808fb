"""Values that look like marks of cells: as docs/release.md says, in both files."""

from itertools import cycle
from pathlib import Path

import pytest

import crowdcover as cc
from tests.flows.orders import Order, people
from tests.support.audits import audit_release
from tests.support.releases import attributes, released_rows

RELEASE_MD = Path(__file__).parents[2] / "docs" / "release.md"
MARKS = {"(missing)": "\\(missing)", "(other)": "\\(other)", "a|b": "a\\|b", "*": "\\*"}


def order_with(folder, values, **column):
    """A table whose column `city` has these values in turn, two ages."""
    chance = cycle(values)
    rows = [
        (row[0], 30 + at % 2, next(chance), "yes", *row[4:])
        for at, row in enumerate(people(len(values) * 60))
    ]
    city = {"role": "quasi", "kind": "categorical", **column}
    return Order(folder, rows, columns={"city": city})


@pytest.mark.long
def test_a_category_called_as_the_mark_of_no_value(tmp_path):
    order = order_with(tmp_path, ["", "(missing)", "ulm"])
    folder = order.release()
    texts = {row["city"] for row in released_rows(folder)}
    assert {"(missing)", "\\(missing)", "ulm"} <= texts
    release = cc.read(folder)
    assert release.count({"city": None}).certain == 60
    assert release.count({"city": "(missing)"}).certain == 60
    audit = audit_release(folder, order.plan)
    assert audit.passed, audit.sentence()


@pytest.mark.long
def test_marks_in_values_have_a_backslash(tmp_path):
    values = [value for value in MARKS if value != "(other)"]
    folder = order_with(tmp_path, values).release()
    assert {row["city"] for row in released_rows(folder)} >= {MARKS[value] for value in values}


@pytest.mark.long
def test_a_category_called_as_the_level_of_others(tmp_path):
    """Beside the level of all others the text has a backslash, without it none."""
    plain = order_with(tmp_path / "plain", ["(other)", "ulm"]).release()
    assert {row["city"] for row in released_rows(plain)} >= {"(other)", "ulm"}
    order = order_with(tmp_path / "pool", ["(other)", "ulm"], rare="pool")
    rows = people(60)
    order.write_source(
        [
            *((row[0], 30, ["(other)", "ulm"][at % 2], "yes", *row[4:]) for at, row in
              enumerate(rows)),
            *((row[0], 30, f"rare-{at % 2}", "yes", *row[4:]) for at, row in
              enumerate(people(6, first=100))),
        ]
    )  # fmt: skip
    folder = order.release()
    assert attributes(folder)["city"]["has_other"]
    assert {row["city"] for row in released_rows(folder)} >= {"\\(other)", "(other)", "ulm"}
    audit = audit_release(folder, order.plan)
    assert audit.passed, audit.sentence()


def test_the_page_of_the_folder_names_them():
    text = RELEASE_MD.read_text(encoding="utf-8")
    assert "`\\(missing)` is a category whose text is `(missing)`" in text
    assert "`\\(other)` is a category whose text is `(other)`" in text
