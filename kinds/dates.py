"""Texts that are dates or moments, by a format as in strptime."""

import re
from typing import Literal

import polars as pl

ISO_DATE = "%Y-%m-%d"
TWO_DIGITS = re.compile(r"%-?[yDgxc]")  # a year of two digits
_TIME = re.compile(r"%[.:369#-]*[HIklMSTRrpPfXczZ+s]")  # a part of a day
ZONE_NAME = re.compile(r"%Z")  # which polars reads over
NANOSECONDS = r"\.\d{7,}"


def to_dates(texts: pl.Series, date_format: str, century: int | None = None) -> pl.Series:
    """Return texts as dates, null where a text is none.

    A year needs as many digits as %Y writes: 05-01-20 is no day of the year 5. Years of two digits
    lie in the hundred years from `century` on; without it, 00 to 69 are of the years 2000.
    """
    return _correct_years(texts, texts.str.to_date(date_format, strict=False), century)


def to_times(texts: pl.Series, date_format: str, century: int | None = None) -> pl.Series:
    """Return texts as days with their time, null where a text is none.

    Moments with an offset are given in UTC. Nanoseconds are kept where a text has some.
    """
    date_format = date_format.replace(".%f", "%.f")  # polars: %f alone counts nanoseconds
    # A %f that is left has no point before it: six digits, microseconds.
    date_format = re.sub(r"%f", "%6f", date_format)
    unit: Literal["ns", "us"] = "ns" if texts.str.contains(NANOSECONDS).any() else "us"
    times = texts.str.to_datetime(date_format, strict=False, time_unit=unit)
    return _correct_years(texts, times, century)


def has_time(date_format: str) -> bool:
    """Whether a format writes a part of a day."""
    return _TIME.search(date_format) is not None


def has_zone_name(date_format: str) -> bool:
    """Whether a format writes the name of a zone, such as EST, which says no offset."""
    return ZONE_NAME.search(date_format) is not None


def has_short_year(date_format: str) -> bool:
    """Whether a format writes years with two digits."""
    return TWO_DIGITS.search(date_format) is not None


def _correct_years(texts: pl.Series, dates: pl.Series, century: int | None) -> pl.Series:
    """Null for years that were written short, and years of the stated century."""
    frame = pl.DataFrame({"text": texts, "date": dates})
    text, date = pl.col("text"), pl.col("date")
    # %Y writes year 5 as 0005, which 05-01-20 does not hold.
    whole = (date.dt.year() >= 1000) | text.str.contains(date.dt.strftime("%Y"), literal=True)
    frame = frame.select(pl.when(whole).then(date).alias("date"))
    if century is None:
        return frame.to_series()
    # The one year from `century` to `century` + 99 with the same two digits.
    year = century + (date.dt.year() - century) % 100
    leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    # Parsing took 00 for 2000, a leap year, and lost no 29 February; the stated century may.
    lost = (date.dt.month() == 2) & (date.dt.day() == 29) & ~leap
    frame = frame.select(pl.when(~lost).then(date).alias("date"))
    return frame.select(date.dt.replace(year=year)).to_series()
