"""The cells of a column of any table, read by one rule."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from crowdcover.assessing.notations import (
    ReadCell,
    choose_text_reader,
    read_ordered_cell,
    read_typed_cell,
)
from crowdcover.assessing.ranges import EVERYTHING, GONE, OUTER, Ranges, find_overlaps


@dataclass(frozen=True)
class ReadColumn:
    """The cells of one column.

    Attributes
    ----------
    cell : int32 (rows,)
        Which distinct cell each row holds.
    ranges : tuple of ranges
        What each distinct cell allows.
    read_as : str
        How the cells were understood, in words.
    suppressed : int
        Rows whose cell allows everything.
    """

    cell: NDArray[np.int32]
    ranges: tuple[Ranges, ...] = field(repr=False)
    read_as: str
    suppressed: int

    def overlap(self, other: "ReadColumn") -> NDArray[np.bool_]:
        """Test which distinct cells can be of one person, bool (cells, cells of the other)."""
        return find_overlaps(self.ranges, other.ranges)


def read_column(
    values: pl.Series,
    source: pl.Series | None = None,
    *,
    suppressed: Collection[str] = ("*",),
    nodes: Mapping[str, Collection[str]] | None = None,
    as_text: bool = False,
) -> tuple[ReadColumn, ReadColumn | None]:
    """Read the cells of a column, and the values of its source by the same rule.

    Parameters
    ----------
    values : Series
        Numbers, dates, truth values, lists of them, intervals with `lo` and `hi`, or texts.
    source : Series, optional
        Values, never sets of them: a bar in one is a sign like others.
    suppressed : collection of str
        Texts that stand for every value, as a missing one does.
    nodes : mapping, optional
        The leaves of each node of a hierarchy.
    as_text : bool
        Do not look for numbers, dates and intervals in texts.

    Raises
    ------
    InputError
        Cells are of a type without order and text.
    """
    cells, place = _list_distinct(values.cast(pl.String) if nodes else values, suppressed)
    exact: list[Any] = []
    source_place = None
    if source is not None:
        exact, source_place = _list_distinct(source.cast(pl.String) if nodes else source, ())
    read_as, ranges, of_source = _read_all(cells, exact, nodes or {}, as_text=as_text)
    wide = np.array([each == EVERYTHING for each in ranges], dtype=np.bool_)
    read = ReadColumn(place, ranges, read_as, int(wide[place].sum()))
    if source_place is None:
        return read, None
    return read, ReadColumn(source_place, of_source, read_as, 0)


def _list_distinct(
    values: pl.Series, suppressed: Collection[str]
) -> tuple[list[Any], NDArray[np.int32]]:
    """The distinct cells, None where everything is allowed, and which one each row holds."""
    if values.dtype in (pl.Categorical, pl.Enum, pl.Boolean):
        values = values.cast(pl.String)
    if values.dtype.is_float():
        values = values.fill_nan(None)
    listed = values.to_list()
    nested = values.dtype.is_nested() or values.dtype == pl.Object
    hashed = map(_hash_cell, listed) if nested else listed
    number: dict[Any, int] = {}
    place = np.fromiter(
        (number.setdefault(each, len(number)) for each in hashed), np.int32, len(listed)
    )
    return [None if _hides_all(cell, suppressed) else cell for cell in number], place


def _hides_all(cell: Any, suppressed: Collection[str]) -> bool:
    """Texts of stars alone, too: where stars hide signs, ``*****`` hides all of them."""
    if not isinstance(cell, str):
        return False
    return cell in suppressed or (cell != "" and not cell.strip("*"))


def _hash_cell(cell: Any) -> Any:
    """Lists as tuples, structs as tuples of pairs."""
    if isinstance(cell, Mapping):
        return tuple((name, _hash_cell(each)) for name, each in cell.items())
    return tuple(map(_hash_cell, cell)) if isinstance(cell, list) else cell


def _read_all(
    cells: Sequence[Any],
    exact: Sequence[Any],
    nodes: Mapping[str, Collection[str]],
    *,
    as_text: bool,
) -> tuple[str, tuple[Ranges, ...], tuple[Ranges, ...]]:
    """Read cells, and values that are exact, by the first rule that reads each of them."""
    read_text = choose_text_reader(cells, nodes)
    what = "nodes of its hierarchy" if nodes else "texts, sets of them, and prefixes before stars"
    rules: list[tuple[str, ReadCell, ReadCell]] = [(what, read_text, read_typed_cell)]
    if not any(isinstance(cell, str) for cell in (*cells, *exact)):
        rules = [("values", read_typed_cell, read_typed_cell)]
    elif not as_text and not nodes:
        what = "numbers or dates, and intervals of them"
        rules.insert(0, (what, read_ordered_cell, read_ordered_cell))
    for what, read, read_exact in rules:
        of = tuple(EVERYTHING if cell is None else read(cell) or () for cell in cells)
        of_exact = tuple((GONE,) if cell is None else read_exact(cell) or () for cell in exact)
        if all(of) and all(of_exact) and _is_of_one_line((*of, *of_exact)):
            return what, of, of_exact
    raise InputError("a column holds cells that are neither values nor sets or intervals of them")


def _is_of_one_line(cells: Iterable[Ranges]) -> bool:
    """Whether all ends are numbers, or all are texts."""
    ends = (place for cell in cells for ends in cell for place in ends)
    return len({isinstance(value, str) for value, _ in ends if (value, _) not in OUTER}) < 2
