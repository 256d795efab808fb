"""Types of database columns that drivers give otherwise than the database holds them.

A driver gives money as cents, an oid with a sign, numeric and uuid as bytes or texts, and types
that it does not know as bytes. Here such columns are made what they are, or named as not carried.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

import polars as pl

from anon_core.errors import InputError
from crowdcover.storage.source.column_names import require_distinct_names
from crowdcover.storage.source.values import DECIMAL_DIGITS, EXACT

OIDS = 2**32  # PostgreSQL's are without a sign
UNREADABLE_TYPE = (
    "source.query selects a column of a type that cannot be read, such as an interval; "
    "cast it to text there"
)
Take: TypeAlias = Callable[[pl.DataFrame], None]  # is given the rows of a query, frame by frame
FINITE_NUMERAL = r"^-?\d+(\.\d+)?$"


@dataclass(frozen=True)
class ColumnTypes:
    """Types of the columns that a query selected, where the driver gives them otherwise.

    Attributes
    ----------
    types : mapping of str
        By column: the name of its type in the database.
    scales : mapping of int
        By column: digits behind the point of amounts of money, and of numeric where it states them.
    """

    types: Mapping[str, str] = field(default_factory=dict)
    scales: Mapping[str, int] = field(default_factory=dict)

    def restore_columns(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return whole columns as the database holds them; refused: those it cannot give."""
        made, foreign = {}, {}
        for name, series in zip(frame.columns, frame, strict=True):
            made[name], why = _as_held(series, self.types.get(name, ""), self.scales.get(name))
            if why:
                foreign[name] = why
        if foreign:
            raise build_type_refusal(foreign)
        return pl.DataFrame(made)


def _as_held(series: pl.Series, of: str, scale: int | None) -> tuple[pl.Series, str]:
    """A column as it is in the database; with the name of its type if that cannot be."""
    if of == "money" and scale is not None:
        return _scale_amounts(series, scale), ""
    if of == "oid":
        # The driver reads 32 bits with a sign, so an oid of 2**31 and more arrives negative.
        wide = series.cast(pl.Int64)
        return wide + (wide < 0).cast(pl.Int64) * OIDS, ""
    if of == "uuid":
        texts = [None if value is None else str(uuid.UUID(bytes=value)) for value in series]
        return pl.Series(series.name, texts, dtype=pl.String), ""
    if of == "numeric":
        return _convert_numeric(series, scale)
    if of == "HUGEINT":
        # 2**127 has 39 digits, one more than a decimal holds.
        long = series.cast(pl.String).str.strip_prefix("-").str.len_bytes() > DECIMAL_DIGITS
        return series, "HUGEINT with more than 38 digits" if long.any() else ""
    return series, of


def _scale_amounts(whole: pl.Series, scale: int) -> pl.Series:
    """Whole numbers of the smallest unit as amounts."""
    values = [None if value is None else Decimal(value).scaleb(-scale) for value in whole.to_list()]
    # 19 digits hold every int64, the type of money in PostgreSQL.
    return pl.Series(whole.name, values, dtype=pl.Decimal(19, scale))


def _convert_numeric(texts: pl.Series, scale: int | None) -> tuple[pl.Series, str]:
    """PostgreSQL's numeric as decimals of one scale: its own, else that of the longest fraction."""
    finite = texts.str.contains(FINITE_NUMERAL)
    if not finite.all():
        return texts, "numeric with values that are no finite numbers"
    if scale is None:
        fractions = texts.str.extract(r"\.(\d+)$").str.len_bytes()
        scale = int(fractions.max() or 0)  # type: ignore[arg-type]
    if scale > DECIMAL_DIGITS:
        return texts, "numeric with more than 38 digits"
    # Not strict: a value of too many digits becomes null, and the nulls are counted.
    found = texts.cast(pl.Decimal(DECIMAL_DIGITS, scale), strict=False)
    if found.null_count() > texts.null_count():
        return texts, "numeric with more than 38 digits"
    return found, ""


def fetch_selected_rows(connection: Any, statement: str, take: Take) -> ColumnTypes:
    """Take the rows of one SELECT, by a driver of Python's database interface."""
    with closing(connection.cursor()) as cursor:
        cursor.execute(statement)
        if cursor.description is None:
            raise InputError("source.query gives no table; give one SELECT")
        names = [column[0] for column in cursor.description]
        frame, types = build_columns(require_distinct_names(names), cursor.fetchall())
    take(frame)
    return types


def build_columns(
    names: Sequence[str], rows: Sequence[Sequence[Any]]
) -> tuple[pl.DataFrame, ColumnTypes]:
    """Rows of Python's values as columns.

    Columns that no type holds have texts, and are named as not carried: whole numbers that a column
    of reals would round, and bytes beside other values.
    """
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    types, made = {}, []
    for name, values in zip(names, columns, strict=True):
        kinds = {type(value) for value in values} - {type(None)}
        # From 2**53 on a float64 may stand for several whole numbers: identifiers would collide.
        if kinds == {int, float} and any(
            type(value) is int and abs(value) >= EXACT for value in values
        ):
            types[name] = "real beside whole numbers of 2**53 and more, which a real would round"
        elif bytes in kinds and len(kinds) > 1:
            types[name] = "bytes beside other values"
        if name in types:
            made.append([None if value is None else repr(value) for value in values])
        elif uuid.UUID in kinds:
            made.append([None if value is None else str(value) for value in values])
        else:
            made.append(list(values))
    plain = list(zip(*made, strict=True))
    # All rows decide a type: by the first ones a late fraction or text would not fit.
    frame = pl.DataFrame(plain, schema=list(names), orient="row", infer_schema_length=None)
    return frame, ColumnTypes(types)


def build_type_refusal(types: Mapping[str, str]) -> InputError:
    """The refusal of columns that no frame can hold."""
    columns = ", ".join(f"column {name!r} of type {of}" for name, of in types.items())
    return InputError(
        f"source.query selects {columns}, which is not read; cast it there, such as to text"
    )
