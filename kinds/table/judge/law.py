"""The vault's claim of the law that seats were drawn from."""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.attackers.attacks import Tightest
from anon_core.measures.table.attackers.law import Law, judge_law
from anon_core.measures.table.classes import Classes, ReleasedCells
from crowdcover.kinds.judge.audit import Finding
from crowdcover.kinds.table.judge.records import Records
from crowdcover.kinds.table.layout import KEY
from crowdcover.storage.source.panics import silence_panics
from crowdcover.storage.source.values import FOREIGN_ERRORS

EVEN_SEATS = "even seats"
_AT_ONCE = 2**17  # rows whose lists are read at a time
_SCHEMA = pl.Schema({KEY: pl.String(), "records": pl.List(pl.Int64())})


def judge_stated_law(
    claim: Path | pl.DataFrame,
    keys: pl.Series,
    records: Records,
    released: ReleasedCells,
    classes: Classes,
    tightest: Tightest,
    seat: NDArray[np.int64],
) -> Law | None:
    """Judge the law that the vault states; None if it states none for these rows and records."""
    holders = _read_holders(claim, keys, records.source_rows)
    if holders is None:
        return None
    merged = released, classes, tightest
    return judge_law(records.codes, records.k, *merged, holders, seat, records.person)


def _read_holders(
    claim: Path | pl.DataFrame, keys: pl.Series, source_rows: NDArray[np.int64]
) -> NDArray[np.int32] | None:
    """Record that holds each share of each row, int32 (rows, D)."""
    try:
        # It is a claim: damaged or forged, it states no law, and the finding fails.
        with silence_panics():
            stated = (
                claim.lazy()
                if isinstance(claim, pl.DataFrame)
                else pl.scan_parquet(claim, glob=False, schema=_SCHEMA)
            )
            order = _order_rows(stated.select(KEY).collect()[KEY], keys)
            if order is None:
                return None
            # The number of each source row among the records; -1: none.
            number = np.full(int(source_rows[-1]) + 1, -1, dtype=np.int32)
            number[source_rows] = np.arange(len(source_rows))
            parts = []
            for at in range(0, len(keys), _AT_ONCE):
                lists = stated.select("records").slice(at, _AT_ONCE).collect()["records"]
                parts.append(_number_holders(lists, number))
    except FOREIGN_ERRORS:
        return None
    # Rows of different numbers of shares make no array (rows, D).
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or len({part.shape[1] for part in known}) != 1:
        return None
    return np.concatenate(known)[order]


def _order_rows(stated: pl.Series, keys: pl.Series) -> slice | NDArray[np.int64] | None:
    """Which of the stated lists is that of each row; None where they are not of these rows."""
    if stated.equals(keys):  # whether these are distinct has a finding of its own
        return slice(None)
    if stated.n_unique() != len(stated) or len(stated) != len(keys):
        return None
    at = pl.DataFrame({KEY: stated, "at": np.arange(len(stated))})
    order = pl.DataFrame({KEY: keys}).join(at, on=KEY, how="left", maintain_order="left")["at"]
    return None if order.null_count() else order.to_numpy()


def _number_holders(lists: pl.Series, number: NDArray[np.int32]) -> NDArray[np.int32] | None:
    """The numbers of the records in lists of source rows; None where they are none."""
    shares = lists.list.len().unique().to_list()
    if len(shares) != 1 or not shares[0]:  # None: a row without a holder
        return None
    held = lists.explode()
    if held.null_count() or not held.is_between(0, len(number) - 1).all():
        return None
    record = number[held.to_numpy()]
    return None if (record < 0).any() else record.reshape(-1, shares[0])


def build_law_finding(stated: Law | None, records: int) -> Finding:
    """Whether the seats were drawn from a law under which nobody exceeds 1/k."""
    if stated is None:
        detail = "the vault states no law of the seats for these rows and records"
        return Finding(EVEN_SEATS, passed=False, detail=detail)
    detail = f"{stated.above} of {records} records may sit in a row with a chance above 1/k"
    if stated.unfit + stated.uneven + stated.unseated:
        detail += (
            f"; {stated.unfit} chances where the record does not fit, {stated.uneven} records "
            f"whose chances do not sum to 1, {stated.unseated} in a row without a chance"
        )
    return Finding(EVEN_SEATS, stated.holds, detail)
