"""Who is in the source now: digests of records, persons and values, and the k of each record."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.tables.demands import list_stated_k
from anon_core.tables.encoding import find_complete_records
from crowdcover.kinds.arrays import convert_to_arrays
from crowdcover.kinds.columns import Column, type_source_column
from crowdcover.kinds.plan.series import Following
from crowdcover.kinds.table.layout import list_released_columns
from crowdcover.kinds.table.pipeline.naming import refuse_idle_names, refuse_unfit_rows
from crowdcover.kinds.table.pipeline.read import demand_column
from crowdcover.kinds.table.pipeline.seals import constants_of
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.version_files import CONSTANT, OWNER, RECORD_DIGEST, VALUES
from crowdcover.storage.ledger.digests import column_digests, row_digests
from crowdcover.storage.ledger.identifier_spelling import normalize_spelling
from crowdcover.storage.source.reading import Reading


@dataclass(frozen=True)
class Present:
    """The source at one moment.

    Attributes
    ----------
    raw : DataFrame
        The columns that the plan uses, as the source gives them.
    table : DataFrame
        The columns that may be released, typed.
    known : DataFrame
        Digests of each row: `#record`, `#owner` (null where the plan names none), `#values`,
        `#constant`.
    k : int32 (rows,)
    stays : bool (rows,)
        Rows that the plan's rules for missing values leave in.
    """

    raw: pl.DataFrame
    table: pl.DataFrame
    known: pl.DataFrame
    k: NDArray[np.int32]
    stays: NDArray[np.bool_]

    def also(self, other: "Present") -> "Present":
        """These rows, and then those of the other."""
        return Present(
            pl.concat([self.raw, other.raw]),
            pl.concat([self.table, other.table]),
            pl.concat([self.known, other.known]),
            np.concatenate([self.k, other.k]),
            np.concatenate([self.stays, other.stays]),
        )

    def only(self, rows: NDArray[np.int64]) -> "Present":
        """Some of the rows, in this order."""
        return Present(
            self.raw[rows], self.table[rows], self.known[rows], self.k[rows], self.stays[rows]
        )


def read_present_records(
    plan: TablePlan, following: Following, reading: Reading, key: bytes, form: int
) -> Present:
    """Read the source; refused: records without an identifier, or with that of another record."""
    raw = reading.columns([column.name for column in plan.columns], plan.needed)
    reading.close()
    refuse_unfit_rows(raw.to_dict(), plan.columns, reading.source)
    found = present_of(plan, following, raw, key, form)
    # A part of a source need not hold every value that the plan names.
    if reading.source.whole:
        column = demand_column(plan.columns, plan.demand)
        of_k = None
        if column is not None:
            of_k = type_source_column(raw, column, plan.source.missing).alias(column.name)
        refuse_idle_names(found.table, of_k, plan.columns, plan.demand)
    if following.record is not None:
        _require_single(found.known[RECORD_DIGEST], following.record)
    return found


def present_of(
    plan: TablePlan, following: Following, raw: pl.DataFrame, key: bytes, form: int
) -> Present:
    """Type and digest source rows that were read before: see `Present`."""
    columns, missing = plan.columns, plan.source.missing
    table = pl.DataFrame(
        {
            column.name: type_source_column(raw, column, missing)
            for column in list_released_columns(columns)
        }
    )
    k, stays = _compute_demands(plan, raw, table, missing)
    known = {
        RECORD_DIGEST: _digest_column(
            following.record, raw, missing, partial(digest_records, key=key, form=form)
        ),
        OWNER: _digest_column(
            following.owner, raw, missing, partial(digest_identifiers, key=key, form=form)
        ),
        VALUES: _digest_values(plan, raw, table, missing, key),
        CONSTANT: constants_of(table, following.constant, key),
    }
    return Present(raw, table, pl.DataFrame(known), k, stays)


def _digest_column(
    name: str | None,
    raw: pl.DataFrame,
    missing: tuple[str, ...],
    digest: Callable[[pl.Series], pl.Series],
) -> pl.Series:
    """A digest of each row's value in an identifier column; null where there is none."""
    if name is None:
        return pl.Series([None] * raw.height, dtype=pl.Binary)
    values = type_source_column(raw, Column(name=name, role="drop"), missing).alias(name)
    # A digest of nothing would make one record of all rows without an identifier.
    return digest(values).set(values.is_null(), None)


def is_among(digests: pl.Series, some: frozenset[bytes]) -> NDArray[np.bool_]:
    """Whether each digest is one of these; an absent one is not."""
    chosen = pl.Series(sorted(some), dtype=pl.Binary)
    return digests.is_in(chosen.implode()).fill_null(value=False).to_numpy()


def digest_records(values: pl.Series, key: bytes, form: int) -> pl.Series:
    """A digest of each record by its identifier, as `identify` keeps them, binary (rows,)."""
    return pl.Series(column_digests(key, values, form), dtype=pl.Binary)


def digest_identifiers(values: pl.Series, key: bytes, form: int) -> pl.Series:
    """A digest of each identifier, as requests to withdraw are kept, binary (rows,)."""
    spelt = values if form == 1 else normalize_spelling(values)
    return pl.Series(row_digests(key, "identifier", spelt.alias("").to_frame()), dtype=pl.Binary)


def _digest_values(
    plan: TablePlan,
    raw: pl.DataFrame,
    table: pl.DataFrame,
    missing: tuple[str, ...],
    key: bytes,
) -> pl.Series:
    """A digest of all that a row's release depends on."""
    frame = table
    # The column of k may be dropped, but another k needs another crowd, so another row.
    if (name := plan.demand.source_column) is not None and name not in table.columns:
        frame = table.with_columns(
            type_source_column(raw, Column(name=name, role="drop"), missing).alias(name)
        )
    return pl.Series(row_digests(key, "values", frame), dtype=pl.Binary)


def _require_single(records: pl.Series, name: str) -> None:
    absent, shared = records.null_count(), int(records.drop_nulls().is_duplicated().sum())
    if absent or shared:
        raise InputError(
            f"column {name!r} must name each record once a version; of {len(records)} rows "
            f"{absent} have no value there and {shared} share it with another row; correct the "
            "source or series.record"
        )


def _compute_demands(
    plan: TablePlan, raw: pl.DataFrame, table: pl.DataFrame, missing: tuple[str, ...]
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The k of each row, and whether it stays; nobody is left out for the number of rows."""
    demand = plan.demand
    specs = [column.spec for column in plan.columns if column.spec is not None]
    data = convert_to_arrays(table[[spec.name for spec in specs]])
    stays = find_complete_records(specs, data)
    values = None
    if demand.source_column is not None:
        column = demand_column(plan.columns, demand)
        assert column is not None
        series = type_source_column(raw, column, missing).alias(demand.source_column)
        values = convert_to_arrays(series.to_frame())[demand.source_column]
    # Not `resolve_demands`: a record whose k is too large for this source waits for a later one.
    return list_stated_k(demand, len(stays), values).astype(np.int32), stays
