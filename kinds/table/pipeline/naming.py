"""Whether values that a plan names occur in its source, so that its rules take hold."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from decimal import Decimal

import polars as pl

from anon_core.errors import InputError
from anon_core.specs.demands import Demand
from crowdcover.kinds.columns import Column
from crowdcover.kinds.dates import to_dates
from crowdcover.kinds.named_values import NUMBER, is_named
from crowdcover.storage.ledger.identifier_spelling import count_ambiguous
from crowdcover.storage.source.sources import Source
from crowdcover.storage.source.values import call_or_refuse, is_csv_type, unwrap_extension

BLANKS = re.compile(r"\s+")


def repeats_names(columns: Mapping[str, pl.Series]) -> pl.Series:
    """Whether a row repeats the names of all columns, at least two, bool (rows,)."""
    texts = {name: column for name, column in columns.items() if column.dtype == pl.String}
    rows = len(next(iter(columns.values()), []))
    found = pl.int_range(rows, dtype=pl.UInt32, eager=True)
    # A column of another type cannot hold its name, and one column alone proves nothing.
    if len(texts) < max(2, len(columns)):
        found = found.clear()
    for name, column in texts.items():
        # Few rows hold the name of a column: only those are looked at further.
        holding = column.alias("").gather(found) if len(found) < rows else column.alias("")
        found = found.filter(
            holding.str.contains(name.strip(), literal=True).fill_null(value=False)
        )
        stripped = column.alias("").gather(found).str.strip_chars()
        found = found.filter(stripped == name.strip())
    return pl.zeros(rows, pl.Boolean, eager=True).scatter(found, True)  # noqa: FBT003


def refuse_unfit_rows(
    raw: Mapping[str, pl.Series], columns: Sequence[Column], source: Source
) -> None:
    """Refuse headers among the rows, unclear identifiers, and markers that no cell has.

    `raw` are columns as read. None of it is asked of a part of a source, nor of a source that an
    older build began to read.
    """
    if source.form > 1 and source.whole:
        _refuse_second_headers(raw)
        _refuse_ambiguous_identifiers(raw, columns)
        _refuse_idle_markers(raw, columns, source)


def _refuse_second_headers(raw: Mapping[str, pl.Series]) -> None:
    """Refuse rows that repeat the names of the columns: each would count as a person."""
    rows = repeats_names(raw)
    if number := int(rows.sum()):
        raise InputError(
            f"{number:,} of {len(rows):,} rows of the source repeat the names of its columns; each "
            "would count as a person: take them out of the source"
        )


def _refuse_ambiguous_identifiers(raw: Mapping[str, pl.Series], columns: Sequence[Column]) -> None:
    """Refuse identifiers such as 1.000, unless the plan says that they are texts."""
    for column in columns:
        if column.role != "identifier" or column.name not in raw or column.kind == "categorical":
            continue
        identifiers = raw[column.name].alias("")
        if number := count_ambiguous(identifiers):
            raise InputError(
                f"column {column.name!r}: {number:,} of {len(identifiers):,} identifiers are "
                "written like 1.000, which may mean 1 or 1000, so that people of another file "
                f"would not be known again; write them without the point, or state "
                f"columns.{column.name}.kind = 'categorical' if they are codes with a point"
            )


def _refuse_idle_markers(
    raw: Mapping[str, pl.Series], columns: Sequence[Column], source: Source
) -> None:
    """Refuse texts in source.missing that no cell has."""
    used = [column for column in columns if column.name in raw]
    # Refusals tell places in the list and quote no text, since a plan may hold cells.
    markers = [text.strip() for text in source.missing]
    idle = [
        at
        for at, marker in enumerate(markers, start=1)
        if marker
        and source.missing[at - 1] not in source.optional
        and not any(_has_marker(raw[column.name].alias(""), column, marker) for column in used)
    ]
    # What only degrees of a point had is not here any more.
    if idle and not source.points:
        raise InputError(
            f"no column that the plan uses has the {_format_ordinals(idle)} of {len(markers)} "
            "texts in "
            "source.missing; correct them, take them out, or name them in source.optional"
        )


def _has_marker(series: pl.Series, column: Column, marker: str) -> bool:
    """Whether a column has a cell that a marker names, as its type compares."""
    values = unwrap_extension(series)
    if values.dtype in (pl.Null, pl.Categorical, pl.Enum):
        values = values.cast(pl.String)
    if values.dtype != pl.String:
        return is_csv_type(values.dtype) and bool(is_named(values, marker).any())
    texts = values.str.strip_chars()
    if bool(is_named(texts, marker).any()):
        return True
    if column.kind == "numeric":
        # As the column reads numbers: a marker and its cells may be written in two ways.
        texts = texts if column.numerals is None else column.numerals.plain(texts)
        return bool(is_named(texts.cast(pl.Float64, strict=False), marker).any())
    if column.kind == "date":
        unknown = f"columns.{column.name}.format is no format of dates; give one such as '%m/%d/%Y'"
        dates = call_or_refuse(lambda: to_dates(texts, column.date_format, column.century), unknown)
        return bool(is_named(dates, marker).any())
    return False


def refuse_idle_names(
    table: pl.DataFrame, k_values: pl.Series | None, columns: Sequence[Column], demand: Demand
) -> None:
    """Refuse values of an order or of levels of k that no row has; columns as they were typed."""
    for column in columns:
        if column.named and column.form > 1:
            where = f"columns.{column.name}"
            _refuse_idle_values(table[column.name], column.named, column.optional, where, "order")
    values = k_values
    if values is None or not demand.by or columns[0].form == 1:
        return
    _refuse_idle_values(values, tuple(demand.levels), demand.optional, "privacy.k", "levels")
    # A group in another spelling would get the default k without a word.
    if near := _count_near(values.alias(""), set(demand.levels)):
        raise InputError(
            f"column {demand.by!r}: {near} of {len(values)} rows have a value that differs "
            "from one in privacy.k.levels in spelling only, such as 1.0 from 1 or a from A; name "
            "each spelling there, or make them one in the source"
        )


def _refuse_idle_values(
    values: pl.Series, names: Sequence[str], optional: Sequence[str], where: str, key: str
) -> None:
    present = set(values.drop_nulls().unique().to_list())
    idle = [
        at for at, name in enumerate(names, start=1) if name not in present and name not in optional
    ]
    if idle:
        raise InputError(
            f"no row of column {values.name!r} has the {_format_ordinals(idle)} of {len(names)} "
            "values in "
            f"{where}.{key}; spell them as the source does, or name them in {where}.optional"
        )


def _count_near(values: pl.Series, names: set[str]) -> int:
    """Count rows whose value is none of these names, but one of them in another spelling."""
    near = {_normalize_loosely(name) for name in names}
    counts = values.drop_nulls().value_counts(name="rows")
    return sum(
        rows
        for value, rows in counts.rows()
        if value not in names and _normalize_loosely(value) in near
    )


def _normalize_loosely(text: str) -> str:
    """One spelling for texts that may mean the same."""
    plain = BLANKS.sub(" ", unicodedata.normalize("NFKC", text)).strip().casefold()
    return str(Decimal(plain).normalize()) if NUMBER.fullmatch(plain) else plain


def _format_ordinals(places: Sequence[int]) -> str:
    """Places in a list, such as: 1st, 3rd and 4th."""
    said = [f"{at}{_find_ordinal_suffix(at)}" for at in places]
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"


def _find_ordinal_suffix(at: int) -> str:
    teens = 10 <= at % 100 <= 20  # 11th, 12th and 13th, not 11st
    return "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(at % 10, "th")
