"""Findings on direct identifiers: counts, ways out, permissions, and releases from before them."""

import json
from datetime import date

import numpy as np
import polars as pl
import pytest

from anon_core.promise import Promise
from crowdcover.kinds.judge.audit import DIRECT, OLDER, Audit, Finding, audit_folder
from crowdcover.kinds.judge.direct import (
    build_shown_cells,
    build_shown_labels,
    count_direct,
    direct_finding,
)
from crowdcover.kinds.table.plan.checks import ChecksSection

CALL, WRITE = "call +49 171 2345678", "anna@example.org"


def shown(cells, allow=()):
    return build_shown_cells("note", pl.Series(cells), "columns.note.allow", allow)


def test_rows_are_counted_not_texts():
    assert count_direct([shown([CALL, CALL, "ok", None, "", WRITE])]) == {
        "note": {"email": 1, "phone": 2}
    }
    labels = build_shown_labels("ward", ["A", WRITE], np.array([7, 5]), "columns.ward.allow")
    assert count_direct([labels]) == {"ward": {"email": 5}}
    assert count_direct([shown(["ok", "no"])]) == {}


@pytest.mark.long
@pytest.mark.parametrize(
    "cells",
    [
        pl.Series([4111111111111111, 7] * 3, dtype=pl.Int64),
        pl.Series([4111111111111111.0, 7.0] * 3),
        pl.Series([["a", "visa 4111111111111111"], []] * 3),
        pl.Series([{"a": "visa 4111111111111111"}, {"a": ""}] * 3),
        pl.Series(["4111111111111111", "7"] * 3).cast(pl.Categorical),
    ],
    ids=lambda cells: str(cells.dtype),
)
def test_cells_of_any_type_are_read(cells):
    found = count_direct([build_shown_cells("card_number", cells, "columns.card_number.allow")])
    assert found == {"card_number": {"card": 3}}


@pytest.mark.parametrize("cells", [[True, False], [date(2014, 3, 5)]])
def test_truth_values_and_times_are_not_looked_at(cells):
    assert shown(cells) is None


def test_the_detail_names_column_kinds_rows_and_ways_out_and_no_cell():
    column = shown([CALL, WRITE, WRITE])
    finding = direct_finding([column], count_direct([column]), 3)
    assert finding.broken
    for part in ("'note'", "e-mail addresses in 2 of 3 rows", "telephone numbers in 1 of 3 rows",
                 "columns.note.allow = ['email', 'phone']", "role = 'drop'"):  # fmt: skip
        assert part in finding.detail
    assert "171" not in finding.detail
    assert "anna" not in finding.detail


def test_only_allowed_kinds_pass():
    for allow, broken in ((["email"], True), (["email", "phone"], False)):
        column = shown([CALL, WRITE], allow)
        finding = direct_finding([column], count_direct([column]), 2)
        assert finding.broken == broken
    assert "what the plan allows" in finding.detail
    clean = shown(["ok"])
    assert (
        direct_finding([clean], {}, 1).detail == "no cell and no label of 1 columns looks like one"
    )


@pytest.mark.parametrize("counts", [True, False])
def test_an_older_release_gets_a_remark(tmp_path, counts):
    class Measured:
        def sections(self):
            found = {"unique_values": {}, "direct_identifiers": {"note": {"phone": 1}}}
            return {"privacy": {"records": 1}, "protection": found}

    protection = Measured().sections()["protection"]
    if not counts:
        del protection["direct_identifiers"]
    manifest = {"privacy": {"records": 1}, "protection": protection, "files": {}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    finding = Finding(DIRECT, passed=False, detail="counted")
    audit = audit_folder(
        tmp_path,
        Audit((finding,), Measured()),
        ChecksSection().release_limits,
        Promise(()),
        lambda manifest, sections: sections,
    )
    assert audit.passed != counts
    told = next(each for each in audit.findings if each.guarantee == DIRECT)
    assert told.detail == ("counted" if counts else OLDER + "counted")
    assert next(each for each in audit.findings if each.guarantee == "numbers as measured").passed
