"""The audit of released rows against the plan and its source."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.matrix.classes import RowClasses
from anon_core.measures.matrix.linkage import measure_linkage
from anon_core.measures.matrix.smoothness import measure_smoothness
from anon_core.promise import Promise
from crowdcover.kinds.judge.audit import Audit, Finding, not_judged
from crowdcover.kinds.judge.direct import count_direct, direct_finding
from crowdcover.kinds.judge.files import read_matching, read_rows
from crowdcover.kinds.judge.seats import find_row_seats
from crowdcover.kinds.matrix.judge.labels import list_shown_items
from crowdcover.kinds.matrix.judge.measured import Measured
from crowdcover.kinds.matrix.judge.released import (
    ReleasedRows,
    judge_codebook,
    read_codebook,
    read_items,
)
from crowdcover.kinds.matrix.judge.source import SourceMatrix
from crowdcover.kinds.matrix.layout import FILES, ITEM, ITEMS, KEY, MATCHING, RECORD
from crowdcover.kinds.matrix.pipeline.read import read_source
from crowdcover.kinds.matrix.pipeline.rows import flatten_rows
from crowdcover.kinds.matrix.plan.sections import MatrixPlan
from crowdcover.storage.source.reading import Reading

_CLASSES, _MAJORITY = "equivalence classes", "smooth majority"
_KNOWN = (1, 2, 5, 10)  # items that an attacker knows of a person
_NOT_JUDGED = Finding(
    _CLASSES, passed=False, detail="not judged: there are no rows, or keys or items are missing"
)


def audit_matrix(
    plan: MatrixPlan,
    promise: Promise,
    formats: Sequence[str],
    reading: Reading,
    folder: Path,
    secrets: Path,
) -> Audit:
    """Audit the data files and the codebook in a folder; all of it is required."""
    source = SourceMatrix.of(read_source(reading, plan), plan)
    rows, findings = read_rows(folder, FILES, formats, flatten_rows)
    if rows is None:
        return Audit(tuple(findings))
    extra = rows.columns != [KEY, ITEMS]
    detail = f"{rows.width} columns; a key and a list of items are expected"
    findings.append(Finding("no other column", not extra, detail))
    if not {KEY, ITEMS} <= set(rows.columns) or rows.is_empty():
        return Audit((*findings, _NOT_JUDGED), rows=rows)
    seat, more = find_row_seats(rows, np.arange(source.records), read_matching(secrets / MATCHING))
    book = read_codebook(folder, bool(plan.keyed))
    released, readable = read_items(rows, len(book.labels))
    findings += [*more, readable]
    if released is None:
        return Audit((*findings, _NOT_JUDGED), rows=rows)
    names = source.pairs[ITEM].unique().cast(pl.String)
    numbers, finding = judge_codebook(book, released, names, bool(plan.keyed), secrets)
    findings.append(finding)
    shown = list_shown_items(plan, book.labels, released)
    measured = _measure_release(source, released, seat, numbers, len(names))
    measured = replace(measured, direct=count_direct(shown))
    findings += _judge_classes(measured, promise)
    findings.append(direct_finding(shown, measured.direct, rows.height))
    return Audit((*findings, *not_judged(promise, findings, "matrix")), measured, rows)


def _measure_release(
    source: SourceMatrix,
    released: ReleasedRows,
    seat: NDArray[np.int64],
    numbers: pl.DataFrame,
    items: int,
) -> Measured:
    """Measure the release; `numbers` gives the published number of each item by name.

    Items are numbered anew by name: where they are people, their published order is that of secret
    keys, and no number may depend on it.
    """
    released, numbers = _by_name(released, numbers)
    dtype = source.pairs[ITEM].dtype
    # A name that the source lacks is none of its Enum and becomes null.
    known = numbers.with_columns(pl.col(ITEM).cast(dtype, strict=False)).drop_nulls()
    joined = source.pairs.join(known, on=ITEM, how="left")
    # An item in no released row has no number; its entries count as suppressed.
    joined = joined.select(RECORD, pl.col("number").fill_null(-1))
    joined = joined.sort(RECORD, "number")
    record, item = joined[RECORD].to_numpy(), joined["number"].to_numpy()
    del joined
    held = np.bincount(record, minlength=source.records)
    indptr = np.concatenate([[0], np.cumsum(held)]).astype(np.int64)
    classes = RowClasses.of(released.indptr, released.items)
    class_of = np.where(seat >= 0, classes.of_row[seat], -1)
    return Measured(
        k=source.k,
        class_of=class_of,
        classes=classes,
        smooth=measure_smoothness(classes, class_of, record, item, released.number),
        items=items,
        released_items=released.number,
        linkage={t: measure_linkage(classes, indptr, item, released.number, t) for t in _KNOWN},
    )


def _by_name(released: ReleasedRows, numbers: pl.DataFrame) -> tuple[ReleasedRows, pl.DataFrame]:
    """The rows and the numbers of items in the order of names; items without a name come last."""
    named = numbers.sort(ITEM)
    published = named["number"].to_numpy()
    # Already by name, as in each sound release whose items are no people.
    if (np.diff(published) > 0).all():
        return released, numbers
    rank = np.full(released.number, -1, dtype=np.int64)
    rank[published] = np.arange(len(published))
    rank[rank < 0] = np.arange(len(published), released.number)
    row = np.repeat(np.arange(len(released.indptr) - 1), np.diff(released.indptr))
    items = rank[released.items]
    # Ascending in each row again: `RowClasses` compares rows as bytes.
    items = items[np.lexsort((items, row))]
    place = pl.Series("number", np.arange(len(published), dtype=np.int64))
    return replace(released, items=items), named.with_columns(place)


def _judge_classes(measured: Measured, promise: Promise) -> list[Finding]:
    """Findings on classes and majorities; those are required that the promise names."""
    records, smooth = len(measured.k), measured.smooth
    below = f"the class of {measured.below} of {records} records is smaller than they demand"
    minorities = (
        f"{smooth.broken} of {len(smooth.holders)} items of classes are held by less than half of "
        "their class"
    )
    return [
        Finding(_CLASSES, measured.below == 0, below, required=_CLASSES in promise.findings),
        Finding(_MAJORITY, smooth.broken == 0, minorities, required=_MAJORITY in promise.findings),
    ]
