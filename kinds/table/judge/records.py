"""The records of the source as the audit computes them: levels, demands, and which are released."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.table.codebook.levels import (
    ColumnLevels,
    Texts,
    Values,
    source_levels,
    without_missing,
)
from anon_core.measures.table.demands import compute_demands
from anon_core.specs.coarse import Ends
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.demands import Demand
from crowdcover.kinds.columns import Column
from crowdcover.kinds.table.judge.as_text import number_distinct_cells
from crowdcover.kinds.table.judge.coarse import coarsen_columns


@dataclass(frozen=True)
class Records:
    """The records that a release must show.

    Attributes
    ----------
    specs : tuple of ColumnSpec
    levels : tuple of ColumnLevels
        Of each quasi-identifier, in the plan's order.
    codes : int32 (attributes, n)
        Level of each record in each quasi-identifier.
    k : int32 (n,)
        Demanded number of rows.
    frame : DataFrame
        The typed source columns of these records, numbers as coarse as the plan wants them; those
        of `without_cells` if it was called.
    schema : Schema
        The types of all columns of the source that are released.
    source_rows : int64 (n,)
        Row of each record in the source.
    source_height : int
        Number of rows of the source, with those that the plan's rules leave out.
    staying : int
        Number of rows that these rules leave in.
    left_out : int
        Number of those that are left out by choice.
    person : int64 (n,), optional
        Number of each record's person where the plan says which rows are of one person.
    ends : dict of Ends
        Where the open groups of the columns begin that are published coarser.
    """

    specs: tuple[ColumnSpec, ...]
    levels: tuple[ColumnLevels, ...]
    codes: NDArray[np.int32]
    k: NDArray[np.int32]
    frame: pl.DataFrame
    schema: pl.Schema
    source_rows: NDArray[np.int64]
    source_height: int
    staying: int
    left_out: int
    person: NDArray[np.int64] | None = None
    ends: Mapping[str, Ends] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        k_values: pl.DataFrame | None,
        columns: tuple[Column, ...],
        demand: Demand,
        owners: pl.Series | None = None,
        left_out: tuple[NDArray[np.int64], float] | None = None,
        may_stay: NDArray[np.bool_] | None = None,
    ) -> "Records":
        """Compute them from the typed columns, and the columns of k and of people, if any.

        `left_out`: where the plan leaves out records by choice, the rows of the source that are
        claimed to be released, int64, and the share of the records that may be missing there. If
        more are, none counts as left out. `may_stay` bool (rows,): which rows the plan lets be
        released; all by default.
        """
        specs = [column.spec for column in columns if column.spec is not None]
        wishes = None if k_values is None else list_row_values(k_values.to_series())
        stays = without_missing(specs, _Columns(frame), frame.height)
        if may_stay is not None:
            stays &= may_stay
        k, released = compute_demands(demand, stays, wishes)
        # bool (rows of the source,), all of them.
        staying, missing = released, np.zeros_like(released)
        if left_out is not None:
            missing = staying & ~np.isin(np.arange(frame.height), left_out[0])
            # Past the share they stay records without a row: a lost matching must excuse nobody.
            if missing.sum() <= int(left_out[1] * int(staying.sum())):
                released = staying & ~missing
        k, person = k[released], None
        if owners is not None:
            texts = owners.alias("").cast(pl.String).fill_null("").filter(pl.Series(released))
            person = texts.rank("dense").to_numpy().astype(np.int64) - 1
            # The rows of a person hide together: all demand the greatest k among them.
            greatest = np.zeros(person.max() + 1, dtype=k.dtype)
            np.maximum.at(greatest, person, k)
            k = greatest[person]
        frame = frame.filter(pl.Series(released))
        frame, ends = coarsen_columns(frame, columns, int(k.max()), person)
        # Fitted to released records only, as the maker's codebook is: the two are compared.
        levels, codes = source_levels(specs, _Columns(frame), int(k.max()), person)
        return cls(
            specs=tuple(specs),
            levels=levels,
            codes=codes,
            k=k,
            frame=frame,
            schema=frame.schema,
            source_rows=np.flatnonzero(released),
            source_height=len(released),
            staying=int(staying.sum()),
            left_out=int(missing.sum()),
            person=person,
            ends=ends,
        )

    @property
    def number(self) -> int:
        """Number of records n."""
        return len(self.k)

    def without_cells(self) -> "Records":
        """The same with the typed values of carried columns alone: `codes` has all others."""
        quasi = [spec.name for spec in self.specs]
        return replace(
            self, frame=self.frame[[name for name in self.frame.columns if name not in quasi]]
        )

    @property
    def ordinal(self) -> NDArray[np.bool_]:
        """Whether masked cells are intervals, bool (attributes,)."""
        return np.array([levels.ordinal for levels in self.levels], dtype=np.bool_)


@dataclass(frozen=True)
class _Columns(Mapping[str, Values]):
    """The values of the columns of a frame, made when they are asked for."""

    frame: pl.DataFrame

    def __getitem__(self, name: str) -> Values:
        return values_of(self.frame[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self.frame.columns)

    def __len__(self) -> int:
        return self.frame.width


def values_of(column: pl.Series) -> Values:
    """A typed column: days or numbers with nan, or texts."""
    column = column.alias("")  # polars takes a name such as ^a$ for a pattern
    if column.dtype == pl.Date:
        column = column.to_physical()
    if column.dtype.is_numeric():
        return np.array(column.cast(pl.Float64).fill_null(float("nan")), dtype=np.float64)
    place, distinct = number_distinct_cells(column)
    return Texts(distinct.to_list(), place)


def list_row_values(column: pl.Series) -> NDArray[Any]:
    """A typed column: days or numbers with nan, or texts with None, each as it stands."""
    values = values_of(column)
    if not isinstance(values, Texts):
        return values
    texts = np.empty(len(values.distinct), dtype=object)
    texts[:] = values.distinct
    return texts[values.place]
