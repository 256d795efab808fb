"""The audit of released rows against the plan and its source."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.attacks import tightest_rows
from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import (
    components_of,
    crowds,
    fits_own_row,
    identical_rows,
)
from anon_core.measures.table.diversity import diversity, diversity_in_classes
from anon_core.measures.table.shared import rare_levels
from anon_core.measures.table.utility import of_one_value, utility, widths_lost
from anon_core.promise import Promise
from anon_core.specs.demands import Demand
from kinds.columns import Column
from kinds.table.judge import law
from kinds.table.judge.attacks import attacks
from kinds.table.judge.carried import equal
from kinds.table.judge.codebook import codebook_findings
from kinds.table.judge.measured import (
    Measured,
    constant_values,
    sensitive_values,
    unique_values,
)
from kinds.table.judge.records import Records
from kinds.table.layout import FILES, KEY, LAW, released_columns
from kinds.table.read import read_table
from tasks.judging.audit import Audit, Finding, not_judged
from tasks.judging.files import read_matching, read_rows
from tasks.judging.seats import seats
from tasks.source.reading import Reading

COMPATIBLE, MATCHABLE, IDENTICAL = "compatible crowds", "matchable crowds", "equivalence classes"
PEOPLE = "crowds of people"


def audit_rows(
    folder: Path,
    formats: Sequence[str],
    reading: Reading,
    columns: tuple[Column, ...],
    demand: Demand,
    matching: Path,
    promise: Promise,
    *,
    person: str | None = None,
    rows_are_people: bool = True,
) -> Audit:
    """Audit the data files and the codebook in a folder.

    Files, codebook, keys, row order and the truth of rows are always required. Of the crowds those
    are required that the promise names. Where a column says which rows are of one `person`, crowds
    are of people, and always required. Where no column does, and the plan does not say that
    `rows_are_people`, an identifier that repeats shows that the release is older than this promise.
    """
    even = law.EVEN in promise.findings
    needed = [person] if person else () if rows_are_people or even else None  # None: all of them
    frame, k_values, owners = read_table(reading, columns, demand, needed)
    repeated = person is None and any(each.drop_nulls().is_duplicated().any() for each in owners)
    records = Records.of(frame, k_values, columns, demand, owners[person] if person else None)
    del frame, owners
    rows, findings = read_rows(folder, FILES, formats)
    if rows is None:
        return Audit(tuple(findings))
    expected = [KEY, *(column.name for column in released_columns(columns))]
    extra, absent = set(rows.columns) - set(expected), set(expected) - set(rows.columns)
    findings += [
        *codebook_findings(folder, records),
        Finding(
            "no other column",
            rows.columns == expected,
            f"{len(extra)} columns too many, {len(absent)} missing, "
            f"{len(expected)} expected in the plan's order",
        ),
    ]
    if absent or rows.is_empty():
        detail = (
            "not judged: there are no rows, or quasi-identifiers, kept columns or keys are missing"
        )
        return Audit((*findings, Finding("crowds", passed=False, detail=detail)), rows=rows)
    seat, more = seats(rows, records.source_rows, read_matching(matching))
    findings += more
    paired = findings[-1].passed and findings[-2].passed
    released = ReleasedCells.of(
        [read_cells(levels, _texts(rows[levels.name])) for levels in records.levels]
    )
    path = matching.with_name(LAW) if even else None
    private = any(column.name == demand.column and not column.known for column in columns)
    measured = _measured(
        records, rows, released, seat, columns, path, paired=paired, private_demand=private
    )
    if IDENTICAL in promise.findings:
        below = int((identical_rows(measured.classes, seat) < measured.crowds.demanded).sum())
        told = sensitive_values(rows, columns, measured.classes, diversity_in_classes)
        measured = replace(measured, classes_below_k=below, in_classes=told)
    findings += [
        *_of_cells(records, released, measured),
        *_of_crowds(measured, promise),
    ]
    if even:
        findings.append(law.finding(measured.law, records.number))
    if repeated:
        findings.append(Finding.of_later(PEOPLE))
    return Audit((*findings, *not_judged(promise, findings, "table")), measured, rows)


def _measured(
    records: Records,
    rows: pl.DataFrame,
    released: ReleasedCells,
    seat: NDArray[np.int64],
    columns: tuple[Column, ...],
    law_path: Path | None,
    *,
    paired: bool,
    private_demand: bool,
) -> Measured:
    """Measure the release; a record without a row has seat -1."""
    seated = np.flatnonzero(seat >= 0)
    fits = np.zeros(records.number, dtype=np.bool_)
    fits[seated] = fits_own_row(records.codes[:, seated], released, seat[seated])
    truthful = fits.copy()
    for column in released_columns(columns):
        if column.role != "quasi":
            people = records.frame[column.name][seated]
            truthful[seated] &= equal(people, rows[column.name][seat[seated]])
    matched = bool(paired and fits.all())
    classes = Classes.of(records.codes, released)
    components = components_of(released, classes, seat if matched else None)
    counts = crowds(
        records.codes, records.k, released, seat if matched else None, classes, components,
        records.person,
    )  # fmt: skip
    tightest, stated = tightest_rows(released, classes), None
    tried: dict[str, Any] = {}
    if law_path is not None and paired:
        merged = released, classes, tightest
        stated = law.stated_law(law_path, rows[KEY], records, *merged, seat)
    if matched:
        against = released, classes, components, counts, tightest, stated
        tried = attacks(*against, private_demand=private_demand)
    return Measured(
        levels=records.levels,
        crowds=counts,
        utility=utility(records.ordinal, released),
        sizes=released.sizes(),
        truthful=truthful,
        matched=matched,
        source_rows=records.source_height,
        classes=classes,
        sensitive=sensitive_values(rows, columns, classes, diversity),
        attacks=tried,
        rare_levels=rare_levels(
            records.levels, records.codes, int(records.k.max()), records.person
        ),
        one_value=of_one_value(records.levels, released),
        widths=widths_lost(records.levels, released),
        unique_values=unique_values(rows, columns),
        people=None if records.person is None else int(records.person.max()) + 1,
        constant_values=(
            None
            if records.person is None
            else constant_values(records.frame, columns, records.person)
        ),
        law=stated,
    )


def _of_cells(records: Records, released: ReleasedCells, measured: Measured) -> list[Finding]:
    """Findings on single cells and rows."""
    unreadable = int((measured.sizes == 0).sum())
    untrue = int((~measured.truthful).sum())
    return [
        Finding(
            "readable cells",
            unreadable == 0,
            f"{unreadable} of {measured.sizes.size} cells cannot be read",
        ),
        Finding(
            "truthful rows",
            untrue == 0,
            f"{untrue} of {records.number} records have no row that is true of them",
        ),
        *_of_missing_values(records, released),
    ]


def _of_missing_values(records: Records, released: ReleasedCells) -> list[Finding]:
    """Whether missing values are hidden in the columns where the plan wants that.

    No cell says that the value is missing, and there are as many `*` as missing values at least.
    Without such a column there is no finding.
    """
    columns = [place for place, levels in enumerate(records.levels) if levels.hide_missing]
    said = short = 0
    for place in columns:
        cell, allowed = released.cell[place], released.levels[place]
        times = np.bincount(cell, minlength=len(allowed))
        said += int(times[allowed[:, 0] & (allowed.sum(axis=1) == 1)].sum())
        missing = int((records.codes[place] == 0).sum())
        short += max(0, missing - int(times[allowed.all(axis=1)].sum()))
    detail = (
        f"{said} cells say that a value is missing, and {short} `*` are lacking, "
        f"in {len(columns)} columns with missing = 'all-hidden'"
    )
    return [Finding("missing values hidden", said + short == 0, detail)] if columns else []


def _of_crowds(measured: Measured, promise: Promise) -> list[Finding]:
    """Findings on crowds; equivalence classes are counted for a promise that names them only."""
    counts, records = measured.crowds, len(measured.truthful)
    of_people = counts.people is not None
    rows = "rows of fewer than k people" if of_people else "fewer than k rows"
    unmatched = "" if measured.matched else "; none is matchable without a true row for everyone"
    findings = [
        Finding(
            COMPATIBLE,
            counts.below_k == 0,
            f"{counts.below_k} of {records} records fit {rows}",
            required=of_people or COMPATIBLE in promise.findings,
        ),
        Finding(
            MATCHABLE,
            counts.matchable_below_k == 0,
            f"{counts.matchable_below_k} of {records} records are matchable with {rows}{unmatched}",
            required=of_people or MATCHABLE in promise.findings,
        ),
    ]
    if (below := measured.classes_below_k) is not None:
        detail = f"the row of {below} of {records} records is identical to fewer than k rows"
        findings.append(Finding(IDENTICAL, below == 0, detail))
    return findings


def _texts(series: pl.Series) -> list[str | None]:
    return list(series.cast(pl.String).to_list())
