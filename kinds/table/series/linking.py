"""What columns that never change for a person leave open of people's histories, for the maker."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.series.histories import (
    ValueCounts,
    count_matchable_rows,
    find_pasts,
    look_up_pasts,
    merge_cells,
)
from anon_core.tables.pasts import Pasts
from crowdcover.kinds.table.series.earlier import Earlier
from crowdcover.kinds.table.version_files import BORN, CHAIN, CONSTANT, DIED

_VALUE = "#value"  # what a row carries in these columns, as a number


@dataclass(frozen=True)
class Linking:
    """Counts the histories that rows of earlier versions leave to people.

    Attributes
    ----------
    earlier : Earlier
    numbers : DataFrame
        A number for each value of the constant columns that a row carries.
    value, cell : int64 (rows,)
        That number for each row ever published; and the cell of the row: rows that were published
        and withdrawn together are one.
    closed : ValueCounts
        The cells that earlier versions withdrew, merged: a record has one row in a batch, so it is
        in one cell of it.
    """

    earlier: Earlier
    numbers: pl.DataFrame
    value: NDArray[np.int64]
    cell: NDArray[np.int64]
    closed: ValueCounts

    @classmethod
    def of(cls, earlier: Earlier) -> "Linking":
        """Of the versions before."""
        rows = earlier.rows
        # One numbering for all: cells multiply by value, so a value has one number everywhere.
        carried = rows[CONSTANT].unique().sort()
        numbers = pl.DataFrame({CONSTANT: carried}).with_row_index(_VALUE)
        numbers = numbers.with_columns(pl.col(_VALUE).cast(pl.Int64))
        # 0: rows that still stand. No row was withdrawn before the second version.
        died = rows[DIED].fill_null(0).to_numpy().astype(np.int64)
        cell = rows[BORN].to_numpy().astype(np.int64) * (int(died.max(initial=0)) + 1) + died
        counting = cls(earlier, numbers, _number_values(numbers, rows), cell, merge_cells([]))
        # All batches at once: one by one, a hundred of them take longer than all else.
        return replace(counting, closed=merge_cells([counting.count(died > 0)]))

    def count(self, inside: NDArray[np.bool_]) -> ValueCounts:
        """Count the rows of some records by what they carry, cell by cell; bool (rows,)."""
        fits = self.earlier.all_fits.among(inside).within(self.cell[inside])
        chain = self.earlier.rows[CHAIN].to_numpy()[inside]
        return count_matchable_rows(chain, self.value[inside], fits)

    def ways(self, born: int) -> NDArray[np.int64]:
        """Histories with each row that fits a record of a batch and still stands, int64 (pairs,).

        The pairs are those of `Earlier.fits`, among the records whose rows stand.
        """
        at = self.earlier.batch(born)
        rows = self.earlier.rows[at]
        here = rows[DIED].is_null().to_numpy()
        chain, value = rows[CHAIN].to_numpy()[here], self.value[at][here]
        fits = self.earlier.fits(born).among(here)
        return look_up_pasts(self.closed, chain, value).ways_with(fits.record, value[fits.row])

    def pasts(self, gone: ValueCounts, joined: pl.DataFrame) -> Pasts:
        """What withdrawn rows leave open of records; `gone` are withdrawn in the coming version."""
        value = _number_values(self.numbers, joined)
        return find_pasts([self.closed, gone], joined[CHAIN].to_numpy(), value)


def _number_values(numbers: pl.DataFrame, rows: pl.DataFrame) -> NDArray[np.int64]:
    """What each row carries, as a number; values that no earlier row carries come last."""
    # In the order of `rows`: fits and chains are beside these values by place.
    both = rows.select(CONSTANT).join(numbers, on=CONSTANT, how="left", maintain_order="left")
    # No cell has these values, so their numbers need to differ only from each other and from
    # those of the cells. Records that wait bring them, too, so no list of values is complete.
    fresh = numbers.height + pl.col(CONSTANT).rank("dense").cast(pl.Int64)
    return both.select(pl.coalesce(_VALUE, fresh)).to_series().to_numpy()
