"""Columns of a table as the plan types them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.columns import ColumnSpec
from kinds.numerals import Numerals, find_numerals, keys_of
from tasks.people.spelling import respell
from tasks.source.values import attempt, printable, stored

Role = Literal["identifier", "quasi", "sensitive", "keep", "drop"]
ISO_DATE = "%Y-%m-%d"
UNREADABLE = "the source holds values that cannot be read as text; convert them"
EXACT = 2**53  # smaller whole numbers are distinct as float64


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the source as the plan names it; `spec` for quasi-identifiers only.

    `public`: everyone may know its values, so that k may depend on them. `numerals` say how its
    numbers are written, where they are texts that no program writes so.
    """

    name: str
    role: Role
    kind: str | None = None
    date_format: str = ISO_DATE
    spec: ColumnSpec | None = None
    public: bool = False
    numerals: Numerals | None = None

    @property
    def known(self) -> bool:
        """Whether others are taken to know the values."""
        return self.role == "quasi" or self.public


def typed(
    frame: pl.DataFrame | Mapping[str, pl.Series], column: Column, missing: Sequence[str]
) -> pl.Series:
    """Return a column as its kind demands; texts in `missing` become null.

    The series has no name meanwhile: polars takes a name such as ^a$ for a pattern.
    """
    series = stored(frame[column.name].alias(""))
    refusal = (
        f"column {column.name!r} holds values that cannot be read, such as dates out of range; "
        "convert it"
    )
    return attempt(lambda: _of_kind(series, column, missing), refusal)


def texts(series: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Values as texts without blanks around them; null where the source gives none."""
    values = stored(series.alias(""))
    if not printable(values.dtype):
        raise InputError(
            f"column {series.name!r} holds {values.dtype.base_type().__name__}; convert it"
        )
    absent = ["", *(text.strip() for text in missing)]

    def given() -> pl.Series:
        stripped = values.cast(pl.String).str.strip_chars()
        return stripped.set(stripped.is_in(absent), None)

    return attempt(given, UNREADABLE)


def identifiers(series: pl.Series, missing: Sequence[str]) -> pl.DataFrame:
    """Names of people: `name`, in their one spelling, and `spelt`, as the source spells them."""
    given = texts(series, missing)
    return pl.DataFrame({"name": respell(given), "spelt": given})


def arrays(frame: pl.DataFrame) -> dict[str, NDArray[Any]]:
    """Return typed columns as the core takes them: float64 with nan, or str objects with None."""
    return {series.name: _array(series.alias("")) for series in frame}


def _array(series: pl.Series) -> NDArray[Any]:
    if series.dtype == pl.Date:
        series = series.cast(pl.Int32)
    if series.dtype.is_numeric():
        return series.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    if series.dtype != pl.String:
        return np.array(series.to_list(), dtype=object)
    # Equal cells share one text: one for each cell would take ten times the memory.
    texts = series.drop_nulls().unique()
    place = series.cast(pl.Enum(texts)).to_physical().cast(pl.Int64).fill_null(len(texts))
    found: NDArray[Any] = np.array([*texts.to_list(), None], dtype=object).take(place.to_numpy())
    return found


def to_dates(texts: pl.Series, date_format: str) -> pl.Series:
    """Return texts as dates, null where a text is none.

    A year needs as many digits as %Y writes: 05-01-20 is no day of the year 5.
    """
    frame = pl.DataFrame({"text": texts, "date": texts.str.to_date(date_format, strict=False)})
    text, date = pl.col("text"), pl.col("date")
    whole = (date.dt.year() >= 1000) | text.str.contains(date.dt.strftime("%Y"), literal=True)
    return frame.select(pl.when(whole).then(date)).to_series()


def _of_kind(series: pl.Series, column: Column, missing: Sequence[str]) -> pl.Series:
    if series.dtype in (pl.Null, pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if not printable(series.dtype):
        if column.role == "drop":  # a starter plan looks at every column
            return series
        raise InputError(
            f"column {column.name!r} holds {_type(series)}; convert it or give it role = 'drop'"
        )
    series = _given(series, missing)
    if column.kind == "numeric":
        return _numbers(series, column)
    if column.kind == "date":
        return _dates(series, column)
    return series if column.kind is None else series.cast(pl.String)


def _type(series: pl.Series) -> str:
    return series.dtype.base_type().__name__


def _given(series: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Set null for texts that mean 'not given', and for such numbers in numeric columns."""
    if series.dtype == pl.String:
        series = series.str.strip_chars()
    absent = series.cast(pl.String).is_in(["", *(text.strip() for text in missing)])
    if series.dtype.is_numeric():
        numbers = (
            pl.Series(list(missing), dtype=pl.String)
            .str.strip_chars()
            .cast(pl.Float64, strict=False)
            .drop_nulls()
        )
        if not series.dtype.is_float():
            # Greater integers share a float64 with a neighbour; their texts were compared above.
            numbers = numbers.filter(numbers.abs() < EXACT)
        absent |= series.cast(pl.Float64).is_in(numbers.to_list())
    return series.to_frame().select(pl.when(~absent).then(pl.first())).to_series()


def _numbers(series: pl.Series, column: Column) -> pl.Series:
    if series.dtype.is_temporal():
        raise InputError(
            f"column {column.name!r} holds {_type(series)}, not numbers; "
            "make it a date or categorical"
        )
    given = series
    if series.dtype == pl.String and column.numerals is not None:
        series = column.numerals.plain(series)
    if series.dtype == pl.Float32:
        # By way of text: the float32 nearest to 0.1 is not 0.1 as a float64.
        series = series.cast(pl.String).cast(pl.Float64)
    numbers = series if series.dtype.is_integer() else series.cast(pl.Float64, strict=False)
    if series.dtype == pl.String:
        whole = series.cast(pl.Int64, strict=False)
        numbers = whole if whole.null_count() == series.null_count() else numbers
    wrong = numbers.null_count() - given.null_count() + int((~numbers.is_finite()).sum())
    if wrong:
        raise InputError(
            f"column {column.name!r}: {wrong} of {len(series)} values are no finite numbers; "
            + _ways_out(given, numbers, column)
        )
    wide = numbers.cast(pl.Float64).abs() >= EXACT
    if series.dtype == pl.String and not numbers.dtype.is_integer():
        # 1e20 states no more digits than a float64 keeps.
        wide &= series.str.contains(r"^[+-]?\d+(\.\d*)?$")
    elif series.dtype.is_float() or (numbers.dtype.is_integer() and column.spec is None):
        return numbers
    if wide.any():
        raise InputError(
            f"column {column.name!r}: {int(wide.sum())} of {len(series)} numbers reach 2**53 "
            "and would lose digits; make the column categorical or an identifier"
        )
    return numbers


def _ways_out(given: pl.Series, numbers: pl.Series, column: Column) -> str:
    """What to do about texts that are no numbers: they may be written in another way."""
    usual = "name their text in source.missing or make the column categorical"
    if given.dtype != pl.String:
        return usual
    guess = find_numerals(given) or find_numerals(given.filter(numbers.is_null()))
    if guess is None:
        return usual
    keys = " and ".join(
        f"columns.{column.name}.{key} = {sign!r}" for key, sign in keys_of(guess.numerals).items()
    )
    return f"{usual}. They look like {guess.numerals.words}: then state {keys}"


def _dates(series: pl.Series, column: Column) -> pl.Series:
    if series.dtype == pl.Date or isinstance(series.dtype, pl.Datetime):
        return series.dt.date()
    if series.dtype != pl.String:
        raise InputError(
            f"column {column.name!r} holds {_type(series)}, not dates; give it another kind"
        )
    unknown = f"columns.{column.name}.format is no format of dates; give one such as '%m/%d/%Y'"
    dates = attempt(lambda: to_dates(series, column.date_format), unknown)
    wrong = int((dates.is_null() & series.is_not_null()).sum())
    if wrong:
        raise InputError(
            f"column {column.name!r}: {wrong} of {len(series)} values are no dates of the stated "
            f"format; set columns.{column.name}.format, e.g. '%m/%d/%Y'"
        )
    return dates
