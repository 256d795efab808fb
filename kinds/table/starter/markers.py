"""Texts that mean "not given": which of them a table holds, and whether they may be values."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from crowdcover.kinds.columns import Column, type_source_column
from crowdcover.kinds.table.starter.values import Values

# Texts that no table uses for a value.
SURE = frozenset({
    "?", "-", "--", ".", "..", "na", "n/a", "#n/a", "n.a.", "nan", "null", "(null)", "<na>",
    "\\n", "missing", "not available", "not given", "no answer",
})  # fmt: skip
# Texts that mean so where all other values are numbers or dates.
LIKELY = frozenset({
    "n", "x", "u", "unk", "unknown", "*", "**", "none", "s", "c", "suppressed", ":", "z", "nd",
    "nr", "dk", "ref", "refused", "other", "not applicable", "not stated", "not reported",
    "don't know",
})  # fmt: skip
_MARKERS = SURE | LIKELY
# Numbers that mean so where no other value is negative.
NEGATIVE = frozenset({
    -7, -8, -9, -77, -88, -99, -97, -98, -999, -996, -997, -998, -9999, -99999,
})  # fmt: skip


class Markers(NamedTuple):
    """Markers of a table: those proposed as missing, and those that may be values elsewhere."""

    missing: list[str]
    columns: int  # that hold one of `missing`
    cells: int  # that hold one of `missing`
    doubted: dict[str, int]  # columns in which a marker may be a value


def find_markers(frame: pl.DataFrame) -> Markers:
    """Look for markers in all columns; source.missing holds for all of them at once."""
    hits: dict[str, list[int]] = defaultdict(list)  # cells of each column
    doubted: dict[str, int] = defaultdict(int)
    wanted: set[str] = set()
    places: dict[str, set[str]] = defaultdict(set)
    for column in frame:
        found, wants, doubts = _of_column(column.alias(""))
        wanted |= wants
        for marker in doubts:
            doubted[marker] += 1
        for marker, cells in found.items():
            hits[marker].append(cells)
            places[marker].add(column.name)
    # source.missing clears a text in every column, so none that may be a value somewhere.
    missing = sorted(wanted - doubted.keys())
    return Markers(
        missing,
        len(set().union(*(places[marker] for marker in missing))),
        sum(sum(hits[marker]) for marker in missing),
        {marker: doubted[marker] for marker in sorted(wanted & doubted.keys())},
    )


def clear_markers(frame: pl.DataFrame, missing: Sequence[str]) -> pl.DataFrame:
    """The same with null for markers, as reading with source.missing gives it."""
    return pl.DataFrame(
        {
            name: type_source_column(frame, Column(name=name, role="drop"), missing)
            for name in frame.columns
        }
    )


def _of_column(series: pl.Series) -> tuple[dict[str, int], set[str], set[str]]:
    """Cells of each marker that a column holds, those it speaks for, those it speaks against."""
    if series.dtype.is_numeric():
        negative = _count_negative_markers(series.drop_nulls())
        return negative, set(negative), set()
    if series.dtype != pl.String:
        return {}, set(), set()
    counts = series.drop_nulls().value_counts(name="cells")
    texts = dict(zip(counts[""].to_list(), counts["cells"].to_list(), strict=True))
    found = {text: cells for text, cells in texts.items() if is_marker(text)}
    # Distinct texts suffice to tell whether all others are numbers or dates.
    others = Values(pl.Series(sorted(texts.keys() - found.keys()), dtype=pl.String))
    if others.number and (others.numbers is not None or others.formats):
        negative = (
            {}
            if others.numbers is None
            else _count_negative_markers(series.filter(~series.is_in(found)))
        )
        return {**found, **negative}, {*found, *negative}, set()
    sure = {text for text in found if text.casefold() in SURE}
    return found, sure, found.keys() - sure


def is_marker(text: str) -> bool:
    """Whether a text may mean "not given"."""
    return text.casefold() in _MARKERS


def _count_negative_markers(series: pl.Series) -> dict[str, int]:
    """Negative markers of a column of whole numbers, if no other number is negative."""
    numbers = series.cast(pl.Float64, strict=False)
    below = numbers.filter(numbers < 0)
    usual = set(below.unique().to_list())
    # Beside its markers a column must hold two other numbers, or it may be codes.
    if not usual or not usual <= NEGATIVE or numbers.n_unique() < len(usual) + 2:
        return {}
    return {f"{number:.0f}": int((below == number).sum()) for number in sorted(usual)}
