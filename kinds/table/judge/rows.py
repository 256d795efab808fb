"""The audit of released rows against the plan and its source."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.cells import read_cells
from anon_core.measures.table.classes import ReleasedCells
from anon_core.measures.table.codebook.levels import ColumnLevels
from anon_core.measures.table.codebook.native import read_level_bounds
from anon_core.promise import Promise
from anon_core.specs.demands import Demand
from crowdcover.kinds.columns import Column
from crowdcover.kinds.judge.audit import Audit, Finding, not_judged
from crowdcover.kinds.judge.direct import direct_finding
from crowdcover.kinds.judge.plugins import judge_by_plugins
from crowdcover.kinds.judge.seats import find_row_seats
from crowdcover.kinds.table.forms import build_stored_schema, is_typed, is_whole
from crowdcover.kinds.table.judge import law
from crowdcover.kinds.table.judge.as_text import Reader, number_distinct_cells
from crowdcover.kinds.table.judge.codebook import codebook_findings
from crowdcover.kinds.table.judge.measured import Measured
from crowdcover.kinds.table.judge.measuring import Laid, list_shown_texts, measure_release
from crowdcover.kinds.table.judge.purpose import apply_purpose
from crowdcover.kinds.table.judge.records import Records
from crowdcover.kinds.table.judge.released import Claims, Released, ReleasedFolder
from crowdcover.kinds.table.layout import KEY, list_released_columns
from crowdcover.kinds.table.pipeline.read import read_others, read_table
from crowdcover.kinds.table.plan.diverse import Diverse
from crowdcover.kinds.table.plan.purpose import Purpose
from crowdcover.kinds.table.plan.reidentification import NONE_ASKED, AskedRisks
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.report.findings import meets_limit
from crowdcover.storage.ledger.identifier_spelling import normalize_spelling
from crowdcover.storage.source.reading import Reading

_COMPATIBLE, _MATCHABLE, _IDENTICAL = "compatible crowds", "matchable crowds", "equivalence classes"
_DIVERSE = "diverse classes"
PEOPLE = "crowds of people"
_NOT_JUDGED = Finding(
    "crowds",
    passed=False,
    detail="not judged: there are no rows, or quasi-identifiers, kept columns or keys are missing",
)


def audit_rows(
    folder: Path,
    formats: Sequence[str],
    reading: Reading,
    columns: tuple[Column, ...],
    demand: Demand,
    matching: Path,
    promise: Promise,
    **stated: Any,
) -> Audit:
    """Audit the data files and the codebook in a folder; see `audit_release`."""
    released, claims = ReleasedFolder(folder, formats), Claims.at(matching)
    return audit_release(released, reading, columns, demand, claims, promise, **stated)


def audit_release(
    released: Released,
    reading: Reading,
    columns: tuple[Column, ...],
    demand: Demand,
    claims: Claims,
    promise: Promise,
    *,
    person: str | None = None,
    rows_are_people: bool = True,
    leave_out: float = 0.0,
    diverse: Diverse | None = None,
    purpose: Purpose | None = None,
    plugins: Sequence[str] = (),
    asked: AskedRisks = NONE_ASKED,
) -> Audit:
    """Audit released rows and their codebook.

    Rows, codebook, keys, row order and the truth of rows are always required. Of the crowds those
    are required that the promise names. Where a column says which rows are of one `person`, crowds
    are of people, and always required. Where no column does, and the plan does not say that
    `rows_are_people`, an identifier that repeats shows that the release is older than this promise.
    The records that the matching does not name are left out by choice; `leave_out` is the share of
    all records that may be. Classes meet `diverse`. Weights and rows follow the `purpose`. Checks
    of other packages are those that `plugins` names. What limits have `asked` for is measured, too.
    """
    even = law.EVEN_SEATS in promise.findings
    needed = [person] if person else () if rows_are_people or even else None  # None: all of them
    left_out = None
    if leave_out > 0:
        left_out = claims.read_matching()["record"].drop_nulls().to_numpy(), leave_out
    records, repeated = _load_records(reading, columns, demand, person, needed, left_out, purpose)
    book = released.read_codebook()
    typed = build_stored_schema(columns, records.schema) if is_typed(book) else None
    of_book = codebook_findings(book, records, columns) + released.judge_nodes(book)
    records = records.without_cells()  # before the rows are read, which need room, too
    rows, findings = released.read_rows(None if typed is None else _list_readers(records))
    if rows is None:
        return Audit(tuple(findings))
    findings += [*of_book, _of_columns(rows, columns)]
    findings += [_of_left_out(records, leave_out)] if leave_out > 0 else []
    findings += [] if typed is None else [released.judge_types(typed)]
    if not _has_all_columns(rows, columns):
        return Audit((*findings, _NOT_JUDGED), rows=rows)
    laid, more = _lay_rows(records, rows, columns, claims)
    private = any(column.name == demand.column and not column.known for column in columns)
    stated_law = claims.law if even else None
    in_classes = _IDENTICAL in promise.findings
    measured = measure_release(
        laid, stated_law, in_classes=in_classes, private_demand=private, asked=asked
    )
    findings += [
        *more,
        *_of_cells(records, laid.cells, measured),
        *_of_crowds(measured, promise),
        direct_finding(list_shown_texts(laid), measured.direct, laid.rows.height),
    ]
    if even:
        findings.append(law.build_law_finding(measured.law, records.number))
    if diverse is not None:
        findings.append(_of_values(measured, diverse))
    if repeated:
        findings.append(Finding.of_later(PEOPLE))
    findings += judge_by_plugins(plugins, rows, {each.name: each.role for each in columns})
    return Audit((*findings, *not_judged(promise, findings, "table")), measured, rows)


def _list_readers(records: Records) -> list[Reader]:
    """What reads the typed cells of each quasi-identifier."""
    return [
        Reader(
            levels.name,
            levels,
            read_level_bounds(levels, whole=is_whole(records.schema[levels.name])),
            strict=True,
        )
        for levels in records.levels
    ]


def lay_rows_beside_records(
    plan: TablePlan, reading: Reading, rows: pl.DataFrame, matching: Path
) -> Laid:
    """Released rows beside the records of a source, without an audit."""
    needed = [plan.person] if plan.person else ()
    records, _ = _load_records(
        reading, plan.columns, plan.demand, plan.person, needed, purpose=plan.purpose
    )
    return _lay_rows(records.without_cells(), rows, plan.columns, Claims.at(matching))[0]


def _load_records(
    reading: Reading,
    columns: tuple[Column, ...],
    demand: Demand,
    person: str | None,
    needed: Sequence[str] | None,
    left_out: tuple[NDArray[np.int64], float] | None = None,
    purpose: Purpose | None = None,
) -> tuple[Records, bool]:
    """The records of the source, and whether an identifier repeats that tells no people apart."""
    # First, since `read_table` closes the reading and with it the file of others.
    others, may_stay = read_others(reading, columns, purpose), None
    frame, k_values, owners = read_table(reading, columns, demand, needed)
    spelt = [normalize_spelling(each.alias("")) for each in owners]  # a column may be called ^a$
    repeated = person is None and any(each.drop_nulls().is_duplicated().any() for each in spelt)
    owner = normalize_spelling(owners[person]) if person else None
    if purpose is not None:
        columns, may_stay = apply_purpose(purpose, columns, frame, others, owner)
    records = Records.of(frame, k_values, columns, demand, owner, left_out, may_stay)
    return records, repeated


def _list_expected_columns(columns: tuple[Column, ...]) -> list[str]:
    return [KEY, *(column.name for column in list_released_columns(columns))]


def _has_all_columns(rows: pl.DataFrame, columns: tuple[Column, ...]) -> bool:
    """Whether there are rows, with all columns that the plan releases."""
    return set(_list_expected_columns(columns)) <= set(rows.columns) and not rows.is_empty()


def _of_columns(rows: pl.DataFrame, columns: tuple[Column, ...]) -> Finding:
    """Whether the rows have the plan's columns and no others."""
    expected, found = _list_expected_columns(columns), rows.columns
    return Finding(
        "no other column",
        found == expected,
        f"{len(set(found) - set(expected))} columns too many, "
        f"{len(set(expected) - set(found))} missing, "
        f"{len(expected)} expected in the plan's order",
    )


def _lay_rows(
    records: Records, rows: pl.DataFrame, columns: tuple[Column, ...], claims: Claims
) -> tuple[Laid, list[Finding]]:
    """Lay the rows beside the records, as the vault's matching claims."""
    seat, findings = find_row_seats(rows, records.source_rows, claims.read_matching())
    # The last two say whether rows and records pair up, see `find_row_seats`.
    paired = findings[-1].passed and findings[-2].passed
    cells = ReleasedCells.of([_read_cells(levels, rows[levels.name]) for levels in records.levels])
    return Laid(records, rows, cells, seat, paired, columns), findings


def _of_left_out(records: Records, share: float) -> Finding:
    """Whether no more records are left out by choice than the plan allows."""
    most = int(share * records.staying)
    return Finding(
        "records left out",
        records.left_out <= most,
        f"{records.left_out} of {records.staying} records are left out by choice, {most} may be",
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
        # Level 0 means missing: a cell that allows nothing else tells it.
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
            _COMPATIBLE,
            counts.below_k == 0,
            f"{counts.below_k} of {records} records fit {rows}",
            required=of_people or _COMPATIBLE in promise.findings,
        ),
        Finding(
            _MATCHABLE,
            counts.matchable_below_k == 0,
            f"{counts.matchable_below_k} of {records} records are matchable with {rows}{unmatched}",
            required=of_people or _MATCHABLE in promise.findings,
        ),
    ]
    if (below := measured.classes_below_k) is not None:
        detail = f"the row of {below} of {records} records is identical to fewer than k rows"
        findings.append(Finding(_IDENTICAL, below == 0, detail))
    return findings


def _of_values(measured: Measured, diverse: Diverse) -> Finding:
    """Whether all classes show of a column what the plan demands."""
    classes = measured.in_classes.get(diverse.column)
    if classes is None:
        return Finding(_DIVERSE, passed=False, detail="not judged: the method promises no classes")
    if diverse.measure == "distance":
        worst = float(classes.distance.max())
        detail = f"distance of a class {worst:.4g}, at most t = {diverse.limit:g} is required"
    else:
        by_measure = {"distinct": classes.distinct, "entropy": classes.effective}
        # The demand holds of every class iff it holds of the worst one.
        worst = float(by_measure[diverse.measure].min())
        detail = f"a class shows {worst:.4g} values by {diverse.measure} number"
        detail += f", at least l = {diverse.limit:g} are required"
    return Finding(_DIVERSE, meets_limit(diverse.measure, diverse.limit, worst), detail)


def _read_cells(
    levels: ColumnLevels, cells: pl.Series
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Read each distinct cell of a column once."""
    place, distinct = number_distinct_cells(cells.alias(""))
    # cell int32 (distinct,) becomes (rows,); allowed is bool (distinct, levels).
    cell, allowed = read_cells(levels, distinct.cast(pl.String).to_list())
    return cell[place], allowed
