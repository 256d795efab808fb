"""Released rows beside the rows of their people, and which cells hide something."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.flows.page.released.first_rows import FirstRows
from crowdcover.flows.page.released.private_side import PrivateSide
from crowdcover.kinds.table.layout import KEY
from crowdcover.reader.coded.columns import Column, list_numbers, take_series
from crowdcover.reader.reading import columns_of


class OwnCell(NamedTuple):
    """A value of the source; `is_masked` says that the released cell does not show it alone."""

    text: str
    is_masked: bool


class OwnedRow(NamedTuple):
    """The values of a person beside a released row; no cells where they are not kept.

    `is_newer` says that they are those of the newest version, in which the person has another row.
    """

    cells: Sequence[OwnCell]
    is_newer: bool


class Owned(NamedTuple):
    """Released cells, column by column, and the person of each row."""

    names: Sequence[str]
    shown: Sequence[Sequence[str]]
    own: Sequence[OwnedRow]


def read_owned_rows(
    side: PrivateSide, first: FirstRows, manifest: Mapping[str, Any]
) -> Owned | None:
    """These released rows and the source rows of the people behind them; None where none is known.

    Cells of quasi-identifiers are compared as what they allow: a category that is written like a
    set, such as a|b, is no set.
    """
    released = set(side.names) if KEY in first.names else set[str]()
    names = [name for name in first.names if name in released]
    if not names or not first.rows:
        return None
    cells = pl.DataFrame(first.rows, schema=dict.fromkeys(first.names, pl.String), orient="row")
    known = side.read(names, cells[KEY])
    place_of = {key: place for place, key in enumerate(known.keys)}
    if not place_of:
        return None
    places = [place_of.get(key) for key in cells[KEY]]
    own = known.table.select(pl.all().gather(pl.Series(places, dtype=pl.UInt32)))
    columns = columns_of(manifest, first.codebook, cells)
    sides = [_lay_beside(cells, columns[name], take_series(own, name)) for name in names]
    shown = [first.names.index(name) for name in names]
    return Owned(
        names,
        [[row[each] for each in shown] for row in first.rows],
        [
            OwnedRow(() if place is None else row, place is not None and known.is_newer[place])
            for place, row in zip(places, zip(*sides, strict=True), strict=True)
        ],
    )


def _lay_beside(cells: pl.DataFrame, column: Column, own: pl.Series) -> list[OwnCell]:
    """The values of one column of the source, held against the released cells."""
    texts = _write_as_released(own)
    if column.role == "quasi":
        shows = _shows_alone(column, own, texts)
    else:
        shows = np.array(texts) == take_series(cells, column.name).fill_null("").to_numpy()
    given = own.is_not_null().to_list()
    return [
        OwnCell(text if is_given else "(missing)", not is_shown)
        for text, is_given, is_shown in zip(texts, given, shows.tolist(), strict=True)
    ]


def _write_as_released(own: pl.Series) -> list[str]:
    """Values as the CSV file of a release writes those of columns that are not masked."""
    # A second column, since a line of one empty field would be no row for a reader.
    text = pl.DataFrame({"own": own, "end": ""}).write_csv()
    return [row[0] for row in csv.reader(io.StringIO(text, newline=""))][1:]


def _shows_alone(column: Column, own: pl.Series, texts: Sequence[str]) -> NDArray[np.bool_]:
    """Whether each cell allows the person's value and no other, bool (rows,)."""
    levels = column.levels
    numbers = list_numbers(own) if levels.is_counted else np.full(len(own), np.nan)
    shows = np.zeros(len(own), dtype=np.bool_)
    for row, cell in enumerate(column.which.tolist()):
        allowed = column.cells.allowed(cell)
        if len(allowed) != 1 or int(allowed[0]) in levels.others:
            continue
        level = int(allowed[0])
        if levels.missing[level]:
            shows[row] = own[row] is None
        elif levels.is_counted:
            shows[row] = levels.lo[level] == levels.hi[level] == numbers[row]
        else:
            shows[row] = own[row] is not None and levels.labels[level] == texts[row]
    return shows
