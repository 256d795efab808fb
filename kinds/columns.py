"""Columns of a table as the plan types them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Literal

import polars as pl

from anon_core.errors import InputError
from anon_core.specs.coarse import Coarse
from anon_core.specs.columns import ColumnSpec
from crowdcover.kinds.dates import (
    ISO_DATE,
    has_short_year,
    has_time,
    has_zone_name,
    to_dates,
    to_times,
)
from crowdcover.kinds.named_values import is_any_of, name_values
from crowdcover.kinds.numerals import Numerals, find_numerals, list_numeral_keys
from crowdcover.storage.ledger.identifier_spelling import normalize_spelling
from crowdcover.storage.source.values import (
    EXACT,
    EXACTLY_AS,
    FORM,
    call_or_refuse,
    drop_nan_payloads,
    is_carried,
    is_csv_type,
    map_texts,
    unwrap_extension,
)

Role = Literal["identifier", "quasi", "sensitive", "keep", "drop"]
UNREADABLE_TEXT = "the source holds values that cannot be read as text; convert them"
UTC = "UTC"  # what files and drivers give for moments of which no zone is known
_DIGITS = 15  # of any number that a float64 keeps


@dataclass(frozen=True, kw_only=True)
class Column:
    """One column of the source as the plan names it.

    Attributes
    ----------
    name, role, kind, date_format, spec
    public : bool
        Whether everyone may know its values, so that k may depend on them.
    named, optional : tuple of str
        Values that the plan names, of an order or of levels of k, and those that no row need have.
    compared : str, optional
        The kind in which they are compared, where that is not `kind`.
    timezone : str, optional
        The zone in which moments become days and times.
    century : int, optional
        The first of the hundred years that two digits mean.
    digits : int, optional
        Digits behind the point to which numbers are rounded.
    form : int
        Of the reading; see `storage.source.values.FORM`.
    numerals : Numerals, optional
        How its numbers are written, where they are texts that no program writes so.
    allow, note : tuple of str, str
        Kinds of direct identifiers that its cells may look like, and why they may.
    coarse : Coarse, optional
        How its numbers are made coarser before they are published.
    """

    name: str
    role: Role
    kind: str | None = None
    date_format: str = ISO_DATE
    spec: ColumnSpec | None = None
    public: bool = False
    named: tuple[str, ...] = field(default=(), repr=False)
    optional: tuple[str, ...] = field(default=(), repr=False)
    compared: str | None = None
    timezone: str | None = None
    century: int | None = None
    digits: int | None = None
    form: int = FORM
    numerals: Numerals | None = None
    allow: tuple[str, ...] = ()
    note: str = ""
    coarse: Coarse | None = None

    @property
    def known(self) -> bool:
        """Whether others are taken to know the values."""
        return self.role == "quasi" or self.public


def type_source_column(
    frame: pl.DataFrame | Mapping[str, pl.Series], column: Column, missing: Sequence[str]
) -> pl.Series:
    """Return a column as its kind demands; texts in `missing` become null."""
    # Without its name: polars takes one such as ^a$ for a pattern.
    series = drop_nan_payloads(unwrap_extension(frame[column.name].alias("")))
    refusal = (
        f"column {column.name!r} holds values that cannot be read, such as dates out of range; "
        "convert it"
    )
    return call_or_refuse(lambda: _of_kind(series, column, missing).rechunk(), refusal)


def convert_to_texts(series: pl.Series, missing: Sequence[str]) -> pl.Series:
    """Values as texts without blanks around them; null where the source gives none."""
    values = unwrap_extension(series.alias(""))
    if not is_csv_type(values.dtype):
        raise InputError(
            f"column {series.name!r} holds {values.dtype.base_type().__name__}; convert it"
        )
    absent = ["", *(text.strip() for text in missing)]

    def given() -> pl.Series:
        stripped = values.cast(pl.String).str.strip_chars()
        return stripped.set(stripped.is_in(absent), None)

    return call_or_refuse(given, UNREADABLE_TEXT)


def respell_identifiers(series: pl.Series, missing: Sequence[str]) -> pl.DataFrame:
    """Names of people: `name`, in their one spelling, and `spelt`, as the source spells them."""
    given = convert_to_texts(series, missing)
    return pl.DataFrame({"name": normalize_spelling(given), "spelt": given})


def _of_kind(series: pl.Series, column: Column, missing: Sequence[str]) -> pl.Series:
    if series.dtype in (pl.Null, pl.Categorical, pl.Enum):
        series = series.cast(pl.String)
    if column.form > 1 and (exact := EXACTLY_AS.get(series.dtype.base_type())):
        series = series.cast(exact)
    if not (is_csv_type(series.dtype) if column.form == 1 else is_carried(series.dtype)):
        if column.role == "drop":  # a starter plan looks at every column
            return series
        raise InputError(
            f"column {column.name!r} holds {_format_type(series)}; convert it or give it role = "
            "'drop'"
        )
    series = _clear_missing_values(series, column, missing)
    if column.kind == "numeric":
        return to_numbers(series, column, missing)
    if column.kind == "date":
        return to_days_or_times(series, column, missing)
    if column.kind is None:
        return series
    return (
        series.cast(pl.String) if column.form == 1 else _name_column_values(series, column, missing)
    )


def _name_column_values(series: pl.Series, column: Column, missing: Sequence[str]) -> pl.Series:
    """Values as texts, compared with those that the plan names in the kind of the column."""
    key = "privacy.k.levels" if column.spec is None else f"columns.{column.name}.order"
    where = f"{key} (column {column.name!r})"
    if column.compared is None:
        return name_values(series, column.named, where)
    plain = replace(column, kind=column.compared, compared=None)
    cell = partial(_of_cell, column=plain)
    return name_values(_of_kind(series, plain, missing), column.named, where, cell)


def _of_cell(text: str, column: Column) -> pl.Series:
    """One text as a cell of the column, in a column of one row; refused if it is none."""
    return call_or_refuse(lambda: _of_kind(pl.Series([text]), column, ()), UNREADABLE_TEXT)


def _format_type(series: pl.Series) -> str:
    return series.dtype.base_type().__name__


def _clear_missing_values(series: pl.Series, column: Column, missing: Sequence[str]) -> pl.Series:
    """Set null for what means 'not given': texts, and in other columns values of their type."""

    def clear(values: pl.Series) -> pl.Series:
        absent = values.cast(pl.String).is_in(["", *(text.strip() for text in missing)])
        if column.form > 1 or values.dtype.is_numeric():
            absent |= is_any_of(values, missing)
        return values.to_frame().select(pl.when(~absent).then(pl.first())).to_series()

    if series.dtype != pl.String:
        return clear(series)
    return map_texts(series, lambda texts: clear(texts.str.strip_chars()))


def to_numbers(series: pl.Series, column: Column, missing: Sequence[str]) -> pl.Series:
    """Return a column as numbers; refused: values that are none, or that would lose digits."""
    if series.dtype.is_temporal():
        raise InputError(
            f"column {column.name!r} holds {_format_type(series)}, not numbers; "
            "make it a date or categorical"
        )
    given = series
    if series.dtype == pl.String and column.numerals is not None:
        series = column.numerals.plain(series)
    carried = column.form > 1 and column.spec is None and column.digits is None
    exact = carried and (series.dtype.is_decimal() or series.dtype == pl.Float32)
    numbers = series if exact else _parse_numbers(series)
    if series.dtype == pl.String and column.form > 1:
        absent = is_any_of(numbers, missing)
        given, series, numbers = (each.set(absent, None) for each in (given, series, numbers))
    endless = 0 if numbers.dtype.is_decimal() else int((~numbers.is_finite()).sum())
    # Nulls that only the reading made, and numbers that are not finite.
    wrong = numbers.null_count() - given.null_count() + endless
    if wrong:
        raise InputError(
            f"column {column.name!r}: {wrong} of {len(series)} values are no finite numbers; "
            + _ways_out(given, numbers, column)
        )
    if column.digits is not None:
        return numbers.cast(pl.Float64).round(column.digits)
    if not carried or numbers is not series:
        _refuse_inexact(series, numbers, column)
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
        f"columns.{column.name}.{key} = {sign!r}"
        for key, sign in list_numeral_keys(guess.numerals).items()
    )
    return f"{usual}. They look like {guess.numerals.words}: then state {keys}"


def _parse_numbers(series: pl.Series) -> pl.Series:
    """Integers as they are, other numbers as float64; null where a text is no number."""
    if series.dtype == pl.Float32:
        # By way of text: the float32 nearest to 0.1 is not 0.1 as a float64.
        series = series.cast(pl.String).cast(pl.Float64)
    if series.dtype == pl.String:
        whole = series.cast(pl.Int64, strict=False)
        if whole.null_count() == series.null_count():
            return whole
    return series if series.dtype.is_integer() else series.cast(pl.Float64, strict=False)


def _refuse_inexact(given: pl.Series, numbers: pl.Series, column: Column) -> None:
    """Refuse numbers that a float64 does not hold: two of them might become one."""
    wide = numbers.cast(pl.Float64).abs() >= EXACT
    if given.dtype == pl.String and not numbers.dtype.is_integer():
        # 1e20 states no more digits than a float64 keeps.
        wide &= given.str.contains(r"^[+-]?\d+(\.\d*)?$")
    elif given.dtype.is_float() or (numbers.dtype.is_integer() and column.spec is None):
        return
    if wide.any():
        raise InputError(
            f"column {column.name!r}: {int(wide.sum())} of {len(given)} numbers reach 2**53 "
            "and would lose digits; make the column categorical or an identifier"
        )
    if column.form > 1 and not numbers.dtype.is_integer() and (lost := _count_inexact(given)):
        raise InputError(
            f"column {column.name!r}: {lost} of {len(given)} numbers have more digits than "
            f"64 bits keep; state columns.{column.name}.round, such as 2 digits behind the "
            "point, or make the column categorical"
        )


def _count_inexact(given: pl.Series) -> int:
    """Count numbers, texts or decimals, that are another one as float64."""
    texts = given.cast(pl.String).drop_nulls()
    long = texts.filter(texts.str.count_matches(r"\d") > _DIGITS).unique()
    return sum(Decimal(text) != Decimal(repr(float(text))) for text in long.to_list())


def to_days_or_times(series: pl.Series, column: Column, missing: Sequence[str]) -> pl.Series:
    """Return a quasi-identifier or partition as dates, a carried column with its times of day."""
    if series.dtype == pl.String:
        found = _from_texts(series, column)
        return found.set(is_any_of(found, missing), None) if column.form > 1 else found
    if series.dtype == pl.Date:
        return series
    if not isinstance(series.dtype, pl.Datetime):
        raise InputError(
            f"column {column.name!r} holds {_format_type(series)}, not dates; give it another kind"
        )
    return series.dt.date() if column.form == 1 else _of_moments(series, column)


def _from_texts(series: pl.Series, column: Column) -> pl.Series:
    """Texts by the format of the plan."""
    form, at = column.date_format, f"columns.{column.name}"
    if column.form > 1 and has_short_year(form) and column.century is None:
        raise InputError(
            f"{at}.format has years of two digits; state which they are: {at}.century = 1950 "
            "means 1950 to 2049"
        )
    if column.form > 1 and has_zone_name(form) and not _has_days(column):
        raise InputError(
            f"{at}.format has the name of a zone (%Z), which states no offset; write offsets and "
            "%z, or leave the kind out to keep the text"
        )
    timed = column.form > 1 and has_time(form) and (not _has_days(column) or column.timezone)
    parse = to_times if timed else to_dates
    unknown = f"{at}.format is no format of dates; give one such as '%m/%d/%Y'"
    found = call_or_refuse(lambda: parse(series, form, column.century), unknown)
    wrong = int((found.is_null() & series.is_not_null()).sum())
    if wrong:
        raise InputError(
            f"column {column.name!r}: {wrong} of {len(series)} values are no dates of the stated "
            f"format; set {at}.format, e.g. '%m/%d/%Y'"
        )
    return _of_moments(found, column) if timed else found


def _of_moments(series: pl.Series, column: Column) -> pl.Series:
    """Days and times as they stand, moments in the zone that the plan or the source states."""
    assert isinstance(series.dtype, pl.Datetime)
    zone = series.dtype.time_zone
    if zone is None and column.timezone is not None:
        raise InputError(
            f"column {column.name!r} has times without a zone, which stay as they are; leave "
            f"columns.{column.name}.timezone out"
        )
    if column.timezone is not None:
        series = series.dt.convert_time_zone(column.timezone).dt.replace_time_zone(None)
    elif zone == UTC and _has_days(column):
        raise InputError(
            f"column {column.name!r} holds moments (timestamptz), whose day depends on the zone; "
            f"state columns.{column.name}.timezone, such as 'America/Chicago' or 'UTC'"
        )
    return series.dt.date() if _has_days(column) else series


def _has_days(column: Column) -> bool:
    """Whether its dates are days, not times."""
    return column.spec is not None or column.role == "drop"
