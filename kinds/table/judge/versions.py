"""The audit of a version of a series: what every version before it showed counts, too."""

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import GuaranteeError
from anon_core.measures.series import SeriesCell, count_crowds, count_histories
from anon_core.measures.table.fitting import find_fitting_rows
from crowdcover.kinds.columns import Column, type_source_column
from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.judge.files import read_rows
from crowdcover.kinds.table.forms import is_typed
from crowdcover.kinds.table.judge.as_text import Reader, batches_as_text
from crowdcover.kinds.table.judge.codebook import BOOK, read_codebook
from crowdcover.kinds.table.judge.coded import Coded
from crowdcover.kinds.table.judge.measuring import Laid
from crowdcover.kinds.table.judge.nodes import nodes_findings
from crowdcover.kinds.table.judge.released import ReleasedFolder
from crowdcover.kinds.table.layout import FILES, KEY
from crowdcover.kinds.table.pipeline.seals import seals_of
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.version_files import (
    BATCHES,
    BORN,
    CHAIN,
    CONSTANT,
    DEMANDED_K,
    DIED,
    OWNER,
    PERSON,
    RECORD_DIGEST,
    ROW_KEY,
    ROW_SEAL,
    SINCE,
    VALUES,
    is_in_version,
)
from crowdcover.kinds.table.version_fits import BatchFits
from crowdcover.kinds.table.version_records import records_of_rows
from crowdcover.storage.ledger.digests import column_digests
from crowdcover.storage.ledger.identifier_spelling import FORM
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.vault.run import Stored

FROZEN, _WITHDRAWN, _BATCH = "rows as before", "withdrawn rows", "the batch as checked"
_SINGLE, CROWDS_IN_EACH, HISTORIES = "one row a record", "crowds in every version", "histories"


def fits_of(laid: Laid) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The rows of a batch that fit each of its records; row i is the one of record i."""
    start, row = find_fitting_rows(laid.records.codes, laid.cells)
    owner = np.empty(laid.rows.height, dtype=np.int32)
    owner[laid.seat] = np.arange(laid.records.number, dtype=np.int32)
    own = owner[row]
    record = np.repeat(np.arange(laid.records.number), np.diff(start))
    order = np.lexsort((own, record))  # by record, then row, as `Fits` requires
    return start, own[order]


class ShownVersion(NamedTuple):
    """The files of a version, and the types that data.parquet must have if it has typed cells."""

    folder: Path
    formats: Sequence[str]
    typed: Mapping[str, pl.DataType]


def of_files(
    shown: ShownVersion, history: pl.DataFrame, number: int, key: bytes
) -> tuple[pl.DataFrame | None, list[Finding]]:
    """Whether a folder shows exactly the rows that its version has, each as it was first shown."""
    rows, findings = _read_released_rows(shown)
    if rows is None or not {KEY, SINCE} <= set(rows.columns):
        return None, findings
    there = history.filter(is_in_version(number))
    sealed = pl.DataFrame({ROW_KEY: rows[KEY], "now": seals_of(rows, key)})
    beside = there.join(sealed, on=ROW_KEY, how="full", coalesce=True)
    lost = int(beside["now"].is_null().sum())
    back = sealed.join(history, on=ROW_KEY, how="semi").join(there, on=ROW_KEY, how="anti").height
    unknown = sealed.join(history, on=ROW_KEY, how="anti").height
    other = int((beside[ROW_SEAL] != beside["now"]).fill_null(value=False).sum())
    ordered = rows[KEY].is_sorted() and rows[KEY].n_unique() == rows.height
    return rows, [
        *findings,
        *nodes_findings(shown.folder, read_codebook(shown.folder)),
        Finding(
            FROZEN,
            lost + other + unknown == 0 and ordered,
            f"{lost} rows are missing, {other} differ from what was published first, {unknown} "
            f"are of no version, of {there.height}; the order is that of the keys",
        ),
        Finding(_WITHDRAWN, back == 0, f"{back} withdrawn rows are there again"),
    ]


def _read_released_rows(shown: ShownVersion) -> tuple[pl.DataFrame | None, list[Finding]]:
    """The rows with their cells as text, read with the published codebook of each batch."""
    book = read_codebook(shown.folder)
    if not is_typed(book):
        return read_rows(shown.folder, FILES, shown.formats)
    try:
        coded = {
            int(number): [Coded.of(entry) for entry in batch["attributes"]]
            for number, batch in book[BATCHES].items()
        }
    except (KeyError, TypeError, ValueError, AttributeError):
        return None, [Finding(BOOK, passed=False, detail="the codebook cannot be read")]
    readers = {
        number: [Reader.of(column, shown.typed[column.name]) for column in columns]
        for number, columns in coded.items()
    }
    names = [name for name, dtype in shown.typed.items() if dtype.is_nested()]
    rows, findings = read_rows(
        shown.folder,
        FILES,
        shown.formats,
        lambda columns: batches_as_text(pl.DataFrame([*columns]), readers, names),
        flattened=True,
    )
    if rows is not None:
        findings.append(ReleasedFolder(shown.folder, shown.formats).judge_types(shown.typed))
    return rows, findings


def of_records(
    listed: pl.DataFrame, identified: Sequence[Stored], record: str | None, form: int = FORM
) -> pl.DataFrame:
    """Every row ever published with the digest of its record, its chain and person named by that.

    The digests of all batches tell whose a row is, not the numbers that the maker gave: a person
    who left and came back is one. Without a column that names records the maker's numbers stay.
    """
    if record is None:
        return listed.with_columns(pl.lit(None, dtype=pl.Binary).alias(RECORD_DIGEST))
    digests = records_of_rows(listed, identified, record, form)
    # Ranks of digests: no number that the maker gave decides which rows are of one record.
    number = digests.rank("dense").cast(pl.Int64)
    return listed.with_columns(
        digests.alias(RECORD_DIGEST), number.alias(CHAIN), number.alias(PERSON)
    )


def of_source(
    reading: Reading, plan: TablePlan, record: str | None, key: bytes, form: int
) -> pl.Series:
    """The digest of the record of each source row; null where no column names records."""
    names = [column.name for column in plan.columns]
    if record is None:
        height = reading.columns(names, names[:1]).height
        return pl.Series([None] * height, dtype=pl.Binary)
    column = Column(name=record, role="drop")
    values = type_source_column(
        reading.columns(names, [record]), column, plan.source.missing
    ).alias(record)
    return pl.Series(column_digests(key, values, form), dtype=pl.Binary)


def of_history(
    history: pl.DataFrame, earlier: pl.DataFrame | None, number: int, *, named: bool
) -> Finding:
    """Whether the vault's list of rows only grew, and no row came back.

    Rows stand in the order of their batches, which tells whose they are where records are `named`;
    else their numbers tell it.
    """
    chains = history.filter(pl.col(DIED).is_null())[CHAIN]
    twice = len(chains) - chains.n_unique()
    changed = 0
    if earlier is not None:
        both = earlier.join(history, on=ROW_KEY, how="left", suffix=" now")
        same = pl.lit(earlier[ROW_KEY].equals(history[ROW_KEY].head(earlier.height)))
        for name in (BORN, DEMANDED_K, ROW_SEAL, CONSTANT, *(() if named else (CHAIN, PERSON))):
            same &= pl.col(name).eq_missing(pl.col(f"{name} now"))
        died = pl.col(DIED).eq_missing(pl.col(f"{DIED} now")) | (
            pl.col(DIED).is_null() & (pl.col(f"{DIED} now") == number)
        )
        changed = both.filter(~(same & died)).height
    return Finding(
        _SINGLE,
        twice + changed == 0,
        f"{twice} records have two rows, {changed} rows of earlier versions are listed otherwise",
    )


def of_members(
    members: pl.DataFrame, history: pl.DataFrame, known: pl.DataFrame, withdrawn: frozenset[bytes]
) -> Finding:
    """Whether everybody with a row is in the source with the same values, and did not withdraw.

    Everybody has the row that the vault's list of rows names.
    """
    alive = history.filter(pl.col(DIED).is_null())
    named = alive[RECORD_DIGEST].null_count() < max(1, alive.height)  # null in all rows, or in none
    on = [ROW_KEY] if named else [CHAIN, PERSON, ROW_KEY]
    seated = members.drop(RECORD_DIGEST).join(alive.select(*on, RECORD_DIGEST), on=on, how="inner")
    elsewhere = max(members.height, alive.height) - seated.height
    asked = pl.Series(sorted(withdrawn), dtype=pl.Binary)
    back = int(members[OWNER].is_in(asked.implode()).fill_null(value=False).sum())
    other = 0
    if named:
        other = seated.height - seated.join(known, on=[RECORD_DIGEST, VALUES], how="semi").height
    return Finding(
        "people of the source",
        back + other + elsewhere == 0,
        f"{other} of {members.height} rows are of records that the source holds otherwise or not, "
        f"{back} of people who were withdrawn, {elsewhere} not of whom the vault's list names",
    )


def rewind_history(history: pl.DataFrame, number: int) -> pl.DataFrame:
    """The rows of the versions up to this one, as they stood in it."""
    dies = pl.when(pl.col(DIED) <= number).then(pl.col(DIED)).alias(DIED)
    return history.filter(pl.col(BORN) <= number).with_columns(dies)


def of_batch(shown: pl.DataFrame, laid: Laid, born: pl.DataFrame, source: pl.Series) -> Finding:
    """Whether the rows that are new in a version are those that were checked as its batch.

    The vault's list of them, `born`, must name the row, the k and the record of each as the audit
    of the batch found them: crowds and histories of later versions are counted by that list.
    `source` has the digest of each source row's record.
    """
    same = shown.schema == laid.rows.schema and shown.equals(laid.rows)
    keys, k = born[ROW_KEY].to_list(), born[DEMANDED_K].to_numpy()
    right = keys == laid.rows[KEY][laid.seat].to_list() and np.array_equal(k, laid.records.k)
    right &= born[RECORD_DIGEST].to_list() == source.gather(laid.records.source_rows).to_list()
    return Finding(
        _BATCH,
        bool(laid.paired and same and right),
        f"{shown.height} rows are new, {laid.rows.height} were checked; the vault's list of them "
        + ("agrees" if right else "names other rows, another k or other records"),
    )


def of_crowds(
    history: pl.DataFrame, fits: BatchFits, allowed: int = 0, batch: int = 0
) -> tuple[list[Finding], dict[str, Any], NDArray[np.int64]]:
    """Whether everybody keeps k rows in every version, whatever is known of who came and went.

    The plan states that `allowed` people may have too few histories, but nobody with a row in
    `batch`. Returned are the findings, the numbers, and the chains of all who have too few.
    """
    history = history.with_columns(_number_values(history[CONSTANT]))  # one number for one value
    died = history[DIED].fill_null(0).to_numpy().astype(np.int64)  # 0: rows of the last version
    if not history[BORN].is_sorted() or len(fits.start) - 1 != history.height:
        raise GuaranteeError(
            "what the vault keeps of the series does not belong together; restore it from a backup"
        )
    # Rows that came and went together are a cell. All cells of a batch at once: a chain has one
    # record in a batch, so in one of its cells.
    cell = history[BORN].to_numpy().astype(np.int64) * (int(died.max(initial=0)) + 1) + died
    start, row = _keep_within(fits.start, fits.row, cell)
    chain, person, value = (history[name].to_numpy() for name in (CHAIN, PERSON, CONSTANT))
    batches = []
    for begin, end in itertools.pairwise(fits.first.tolist()):
        of = slice(begin, end)
        own_start = start[begin : end + 1] - start[begin]
        own = row[start[begin] : start[end]] - np.int32(begin)
        batches.append(SeriesCell(chain[of], own_start, own, value=value[of]))
    crowd = count_crowds(batches, person)  # int64, one number a row
    margin = crowd - history[DEMANDED_K].to_numpy()
    cells = history.select(BORN, DIED).n_unique()
    below = int((margin < 0).sum())
    histories = count_histories(batches)
    k = history.group_by(CHAIN).agg(pl.col(DEMANDED_K).max()).sort(CHAIN)
    short = histories.chain[histories.number < k[DEMANDED_K].to_numpy()]  # both ascend by chain
    few = len(short)
    new = history.filter(pl.col(CHAIN).is_in(short.tolist()), pl.col(BORN) == batch).height
    one = int((histories.rows < k[DEMANDED_K].to_numpy()).sum())
    what = "people who" if history[RECORD_DIGEST].null_count() == 0 else "records that"
    return (
        [
            Finding(
                CROWDS_IN_EACH,
                below == 0,
                f"{below} of {len(margin)} rows are of people with fewer than k matchable rows "
                f"among those that came and went together; {cells} such groups, "
                f"least margin {int(margin.min())}",
            ),
            Finding(
                HISTORIES,
                few == 0,
                f"{few} of {k.height} {what} ever had a row have fewer than k histories"
                f"{_describe_short_histories(few, allowed, new)}; {one} have fewer than k rows in "
                "some version for someone who links rows by what never changes",
                required=not 0 < few <= allowed or new > 0,
            ),
        ],
        {
            "cells": cells,
            "below_k": below,
            "least_margin": int(margin.min()),
            "records_ever": k.height,
            "histories_below_k": few,
            "linked_below_k": one,
            **_summarize_last_version(history, crowd[died == 0]),
        },
        short,
    )


def _describe_short_histories(few: int, allowed: int, new: int) -> str:
    """What can be done about people with too few histories, or what the plan states of them."""
    if not few or new:
        return ""
    if few <= allowed:
        return f" (the plan states up to {allowed})"
    return (
        " (no later version mends that: retract this one; later ones can be published if the plan "
        f"states series.allow_short_histories = {few})"
    )


def _summarize_last_version(history: pl.DataFrame, crowds: NDArray[np.int64]) -> dict[str, int]:
    """What the last version shows: rows, demands, and matchable rows of those who have a row."""
    there = history.filter(pl.col(DIED).is_null())
    k = there[DEMANDED_K].to_numpy()
    return {
        "rows": there.height,
        "people": there[PERSON].n_unique(),
        "k_min": int(k.min()),
        "k_max": int(k.max()),
        "unprotected": int((k < 2).sum()),
        "crowd_least": int(crowds.min()),
        "crowd_median": int(np.quantile(crowds, 0.5, method="lower")),
    }


def _keep_within(
    start: NDArray[np.int64], row: NDArray[np.int32], cell: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Of the rows that fit each record, those in the same cell as the record."""
    record = np.repeat(np.arange(len(cell)), np.diff(start))
    keep = cell[record] == cell[row]
    counts = np.bincount(record[keep], minlength=len(cell))
    return np.concatenate([[0], np.cumsum(counts)]), row[keep]


def _number_values(values: pl.Series) -> pl.Series:
    return values.rank("dense").fill_null(0).cast(pl.Int64)
