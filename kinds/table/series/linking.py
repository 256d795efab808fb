"""What columns that never change for a person leave open of people's histories, for the maker."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.series.fits import Fits
from anon_core.series.histories import ValueCounts, count_matchable_rows, find_pasts
from anon_core.tables.pasts import Pasts
from crowdcover.kinds.table.series.earlier import Earlier
from crowdcover.kinds.table.version_files import BORN, CHAIN, CONSTANT, DIED

_VALUE = "#value"  # what a row carries in these columns, as a number


@dataclass(frozen=True)
class Linking:
    """Counts the histories that rows of earlier versions leave to people.

    `numbers` has a number for each value of the constant columns that a row carries; `closed` are
    the rows that earlier versions withdrew, batch by batch: a record has one row in a batch, so it
    is in one cell of it.
    """

    earlier: Earlier
    numbers: pl.DataFrame
    closed: tuple[ValueCounts, ...]

    @classmethod
    def of(cls, earlier: Earlier) -> "Linking":
        """Of the versions before."""
        # One numbering for all: cells multiply by value, so a value has one number everywhere.
        carried = earlier.rows[CONSTANT].unique().sort()
        numbers = pl.DataFrame({CONSTANT: carried}).with_row_index(_VALUE)
        numbers = numbers.with_columns(pl.col(_VALUE).cast(pl.Int64))
        counting = cls(earlier, numbers, ())
        died = earlier.rows.filter(pl.col(DIED).is_not_null())[BORN]
        # Sorted: `unique` gives no order, and the order of the batches is that of float products.
        closed = [counting.count(born, pl.col(DIED).is_not_null()) for born in died.unique().sort()]
        return cls(earlier, numbers, tuple(closed))

    def count(self, born: int, inside: pl.Expr) -> ValueCounts:
        """Count the rows of some records of a batch by what they carry, cell by cell."""
        chain, value, fits = self._cell(born, inside)
        return count_matchable_rows(chain, value, fits)

    def ways(self, born: int) -> NDArray[np.int64]:
        """Histories with each row that fits a record of a batch and still stands, int64 (pairs,).

        The pairs are those of `Earlier.fits`, among the records whose rows stand.
        """
        chain, value, fits = self._cell(born, pl.col(DIED).is_null())
        return find_pasts(self.closed, chain, value).ways_with(fits.record, value[fits.row])

    def pasts(self, gone: Sequence[ValueCounts], joined: pl.DataFrame) -> Pasts:
        """What withdrawn rows leave open of records; `gone` are withdrawn in the coming version."""
        chain = joined[CHAIN].to_numpy()
        return find_pasts([*self.closed, *gone], chain, self._values(joined))

    def _cell(
        self, born: int, inside: pl.Expr
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Fits]:
        of_batch = self.earlier.rows.filter(pl.col(BORN) == born)
        # null: the row has not died, so it is in no closed cell.
        here = of_batch.select(inside.fill_null(value=False)).to_series()
        part = of_batch.filter(here)
        # Rows that were withdrawn together are a cell; -1: those that still stand.
        cell = part[DIED].fill_null(-1).to_numpy()
        fits = self.earlier.fits(born).among(here.to_numpy()).within(cell)
        return part[CHAIN].to_numpy(), self._values(part), fits

    def _values(self, rows: pl.DataFrame) -> NDArray[np.int64]:
        """What each row carries, as a number; values that no earlier row carries come last."""
        # In the order of `rows`: fits and chains are beside these values by place.
        both = rows.select(CONSTANT).join(
            self.numbers, on=CONSTANT, how="left", maintain_order="left"
        )
        # No cell has these values, so their numbers need to differ only from each other and from
        # those of the cells. Records that wait bring them, too, so no list of values is complete.
        fresh = self.numbers.height + pl.col(CONSTANT).rank("dense").cast(pl.Int64)
        return both.select(pl.coalesce(_VALUE, fresh)).to_series().to_numpy()
