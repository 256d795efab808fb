"""Values of a plan's source by column: five examples, and how often each value occurs.

All of it is private: it goes into the page of the plan only.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from pydantic import ValidationError

from anon_core.errors import AnonymityError
from crowdcover.kinds import kind_called
from crowdcover.kinds.columns import Column, type_source_column
from crowdcover.kinds.table.plan.columns import ColumnSection
from crowdcover.reports.quantities import count, percent
from crowdcover.storage.source.file_bytes import is_packed
from crowdcover.storage.source.panics import silence_panics
from crowdcover.storage.source.reading import Reading
from crowdcover.storage.source.sources import Source, read_leading_rows

EXAMPLES = 5
LONGEST_EXAMPLE = 40  # characters
LEADING_ROWS = 200  # in which examples are looked for
MOST_BARS = 12
# Of text, and rows of other sources, that are counted unasked, in a second or two.
QUICK_BYTES = 32 << 20
QUICK_ROWS = 250_000
_PACKED = 8  # times: how much smaller a packed text is
_SCATTERED = 0.9  # of the rows: a column with so many different values has no common ones
_HEIGHT = 30  # of the highest bar
# What one column may raise that others are shown without: nested values have no order and no text,
# and numbers may be too far apart for intervals.
_NOT_SHOWN = (AnonymityError, pl.exceptions.PolarsError, ValueError, OverflowError)


class ValueBar(NamedTuple):
    """A value or an interval, the share of the rows that have it, and its bar.

    `height` is of `_HEIGHT`; `is_missing` says that no value was given.
    """

    name: str
    share: str
    height: float
    is_missing: bool


class ValueCounts(NamedTuple):
    """How often the values of a column occur: its bars, and what is said of all values."""

    summary: str
    bars: Sequence[ValueBar]

    @property
    def description(self) -> str:
        """The bars as text."""
        return "; ".join(f"{each.name}: {each.share}" for each in self.bars)


class SourceValues(NamedTuple):
    """Example values and counts by column; `is_whole` says that all rows were counted."""

    examples: Mapping[str, Sequence[str]]
    counts: Mapping[str, ValueCounts]
    is_whole: bool


NO_VALUES = SourceValues({}, {}, is_whole=True)


def read_source_values(document: Mapping[str, Any], *, whole: bool) -> SourceValues:
    """Examples and counts of each column of a table; none of what cannot be read.

    A large source is counted only if it is asked for as a `whole`: that takes long.
    """
    source_section = document.get("source")
    if not isinstance(source_section, dict) or source_section.get("kind", "table") != "table":
        return NO_VALUES
    try:
        section = kind_called("table").sections["source"][0].model_validate(source_section)
        columns = document.get("columns", {})
        return _read_values(section.source(), columns, whole=whole)
    # The plan or the source is refused, and the page says so where it shows the refusal. Errors of
    # parsers quote cells, so nothing is made of them.
    except Exception:  # noqa: BLE001
        return NO_VALUES


def count_values(series: pl.Series) -> ValueCounts | None:
    """Count a typed column by intervals or by its commonest values; None if there is none."""
    given, rows = series.drop_nulls(), max(len(series), 1)
    if given.dtype.is_float():
        given = given.filter(given.is_finite())
    if not len(given):
        return None
    if isinstance(given.dtype, pl.Datetime):
        given = given.cast(pl.Date)
    is_ranked = given.dtype.is_numeric() or given.dtype == pl.Date
    if not is_ranked:
        given = given.cast(pl.String)
    different = given.n_unique()
    if not is_ranked and different > max(_SCATTERED * rows, MOST_BARS):
        return ValueCounts(f"{count(different)} different values", ())
    bars = _bin_numbers(given) if is_ranked and different > MOST_BARS else _count_each(given)
    absent = len(series) - len(given)
    highest = max(number for _, number in bars)
    # Texts come in the order of their numbers, and the last bar may be of all others.
    common, most = max(bars, key=lambda each: each[1]) if is_ranked else bars[0]
    summary = f"{_write_value(given.min())} to {_write_value(given.max())}; " if is_ranked else ""
    summary += f"most often {common}, {percent(most / rows)}"
    found = [*bars, ("(missing)", absent)] if absent else bars
    return ValueCounts(
        summary,
        [
            ValueBar(
                name,
                percent(number / rows),
                round(_HEIGHT * number / max(highest, absent), 1),
                bool(absent) and place == len(bars),
            )
            for place, (name, number) in enumerate(found)
        ],
    )


def _count_each(given: pl.Series) -> list[tuple[str, int]]:
    """Rows of each value, ranked ones in their order, others by their number."""
    counted = given.alias("value").value_counts(name="rows")
    if given.dtype != pl.String:
        return [(_write_value(value), rows) for value, rows in counted.sort("value").iter_rows()]
    common = counted.sort("rows", "value", descending=[True, False])
    shown = common.height if common.height <= MOST_BARS else MOST_BARS - 1
    bars = [(_write_value(value), rows) for value, rows in common[:shown].iter_rows()]
    if rest := common.height - shown:
        bars.append((f"{count(rest)} other values", int(common["rows"][shown:].sum())))
    return bars


def _bin_numbers(given: pl.Series) -> list[tuple[str, int]]:
    """Rows in intervals of one width over the range of all values."""
    numbers = given.to_physical() if given.dtype == pl.Date else given
    least: Any = numbers.min()
    greatest: Any = numbers.max()
    # Differences beyond 64 bits would wrap.
    if not numbers.dtype.is_integer() or max(greatest, greatest - least) >= 1 << 63:
        reals = numbers.cast(pl.Float64).to_numpy()
        with np.errstate(over="ignore", invalid="ignore"):  # no width: refused below
            counts, edges = np.histogram(reals, bins=MOST_BARS)
        # As many digits as tell one edge from the next.
        digits = max(0, 1 - math.floor(math.log10(float(edges[1] - edges[0]))))
        names = [f"{low:.{digits}f}..{high:.{digits}f}" for low, high in pairwise(edges.tolist())]
        return list(zip(names, counts.tolist(), strict=True))
    width = -(-(greatest - least + 1) // MOST_BARS)
    places = ((numbers.cast(pl.Int64) - least) // width).to_numpy()
    counts = np.bincount(places, minlength=-(-(greatest - least + 1) // width))
    lows = [least + width * at for at in range(len(counts))]
    ends = [pl.Series(lows), pl.Series([min(low + width - 1, greatest) for low in lows])]
    if given.dtype == pl.Date:
        ends = [each.cast(pl.Int32).cast(pl.Date) for each in ends]
    names = [
        _write_value(low) if low == high else f"{_write_value(low)}..{_write_value(high)}"
        for low, high in zip(*ends, strict=True)
    ]
    return list(zip(names, counts.tolist(), strict=True))


def _write_value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else _shorten(str(value))


def _shorten(value: str) -> str:
    return value if len(value) <= LONGEST_EXAMPLE else f"{value[: LONGEST_EXAMPLE - 1]}\u2026"


def _read_values(source: Source, columns: Mapping[str, Any], *, whole: bool) -> SourceValues:
    planned = list(columns)
    is_file = isinstance(source.path, Path) and source.path.is_file()
    if is_file and not whole and _measure_text(source.path) > QUICK_BYTES:  # type: ignore[arg-type]
        rows = read_leading_rows(source, LEADING_ROWS)
        if rows is not None:
            names = rows.pop(0) if source.header else planned
            texts = zip((each.strip() for each in names), zip(*rows, strict=False), strict=False)
            examples = {name: _pick_examples(column) for name, column in texts}
            return SourceValues(examples, {}, is_whole=False)
    reading = Reading(source)
    header = reading.header
    names = header if isinstance(header, list) else planned
    frame = reading.columns(names, names)
    reading.end()
    with silence_panics():
        examples = {name: _list_examples(frame, name, source) for name in names}
        if frame.height > QUICK_ROWS and not whole:
            return SourceValues(examples, {}, is_whole=False)
        counted = {name: _count_column(frame, name, columns.get(name), source) for name in names}
    counts = {name: each for name, each in counted.items() if each is not None}
    return SourceValues(examples, counts, is_whole=True)


def _measure_text(path: Path) -> int:
    """About how many bytes of text a file holds."""
    return path.stat().st_size * (_PACKED if is_packed(path) else 1)


def _list_examples(frame: pl.DataFrame, name: str, source: Source) -> tuple[str, ...]:
    try:
        leading = type_source_column(frame.head(LEADING_ROWS), _as_it_is(name), source.missing)
        return _pick_examples(leading.cast(pl.String, strict=False).to_list())
    except _NOT_SHOWN:
        return ()


def _count_column(
    frame: pl.DataFrame, name: str, planned: Any, source: Source
) -> ValueCounts | None:
    """Counts of a column as the plan types it; as it is where its section is refused."""
    stated = planned if isinstance(planned, dict) else {"role": "drop"}
    try:
        column = ColumnSection.model_validate(stated).column(name)
        typed = type_source_column(frame, column, source.missing)
    except (AnonymityError, ValidationError):
        typed = None
    try:
        if typed is None:
            typed = type_source_column(frame, _as_it_is(name), source.missing)
        return count_values(typed)
    except _NOT_SHOWN:
        return None


def _as_it_is(name: str) -> Column:
    """A column that is typed by no rule of the plan."""
    return Column(name=name, role="drop")


def _pick_examples(values: Sequence[str | None]) -> tuple[str, ...]:
    distinct = dict.fromkeys(value.strip() for value in values if value and value.strip())
    return tuple(_shorten(value) for value in list(distinct)[:EXAMPLES])
