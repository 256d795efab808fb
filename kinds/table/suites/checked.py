"""The checks of a table in Great Expectations: each suite with the columns that it is about."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from polars import selectors

from anon_core.tables.encoding import decode_levels
from crowdcover.kinds.arrays import convert_to_arrays
from crowdcover.kinds.partial_files import RowsOfColumn
from crowdcover.kinds.table.layout import CARRIED, KEY, PARQUET, TABLE
from crowdcover.kinds.table.pipeline.encode import load_bits, load_encoded
from crowdcover.kinds.table.plan.sections import TablePlan
from crowdcover.kinds.table.suites import binarized as of_binarized
from crowdcover.kinds.table.suites import ingested as of_ingested
from crowdcover.kinds.table.suites import released as of_released
from crowdcover.storage.vault.run import Stored
from crowdcover.validations.rows import ROWS_AT_ONCE, Rows

Suite = tuple[Any, Rows]
_Arrays = dict[str, NDArray[Any]]


def build_ingested_suite(plan: TablePlan, stored: Stored) -> Suite:
    """A table as it was read."""
    table = pl.scan_parquet(stored.file(TABLE), glob=False)
    specs = [column.spec for column in plan.columns if column.spec is not None]
    carried = [column.name for column in plan.columns if column.role in CARRIED]

    def read(names: Iterable[str], first: int, end: int) -> _Arrays:
        part = table.select(selectors.by_name(*names)).slice(first, end - first)
        return convert_to_arrays(part.collect())

    count = table.select(pl.len()).collect().item()
    rows = Rows(table.collect_schema().names(), count, read)
    return of_ingested.build_suite(specs, carried), rows


def build_binarized_suite(stored: Stored) -> Suite:
    """Encoded records: their bits decode, and their demands can be met."""
    # The stored bits, not those that a loaded table would pack of its levels.
    (table, _), bits = load_encoded(stored), load_bits(stored)
    book = table.codebook
    place = {of_binarized.LEVEL + a.name: at for at, a in enumerate(book.attributes)}

    def decode(at: int, first: int, end: int) -> NDArray[np.int64]:
        cuts = range(first, max(end, first + 1), ROWS_AT_ONCE)  # a byte for each bit of these rows
        parts = [bits[cut : min(cut + ROWS_AT_ONCE, end)] for cut in cuts]
        return np.concatenate([decode_levels(book, part, [at])[0] for part in parts])

    def read(names: Iterable[str], first: int, end: int) -> _Arrays:
        k = table.k[first:end].astype(np.int64)
        return {name: decode(place[name], first, end) if name in place else k for name in names}

    rows = Rows((*place, of_binarized.RECORD_K), table.records, read)
    return of_binarized.build_suite(book, table.records, int(table.k.max())), rows


def build_released_suite(measured: Any, anonymized: Stored) -> Suite:
    """The rows to be published, as counts instead of cells."""
    crowds = measured.crowds
    columns = {
        of_released.KEY: RowsOfColumn(anonymized.file(PARQUET), KEY),
        of_released.DEMANDED_CROWD: crowds.demanded,
        of_released.COMPATIBLE_CROWD: crowds.compatible,
        of_released.MATCHABLE_CROWD: crowds.matchable,
        of_released.IS_TRUTHFUL: measured.truthful,
    }
    for attribute, sizes in zip(measured.levels, measured.sizes, strict=True):
        columns[of_released.CELL + attribute.name] = sizes
    levels = {each.name: len(each.labels) for each in measured.levels}
    rows = Rows.of(columns, ordered=frozenset([of_released.KEY]))
    return of_released.build_suite(levels, len(crowds.demanded)), rows
