"""How dates and moments of a column are written, as formats that a release reads."""

import re
from collections.abc import Iterator

import polars as pl

from crowdcover.kinds.dates import ISO_DATE, to_dates
from crowdcover.kinds.table.starter.lexicon import (
    list_calendar_words,
    list_filler_words,
    list_month_words,
    list_name_particles,
    tokenize_name,
)

FIRST_YEAR, LAST_YEAR = 1800, 2200
FEW_TEXTS = 5  # so many rule out most formats
DAYS = (
    ISO_DATE, "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%m/%d/%Y", "%d/%m/%Y", "%m-%d-%Y", "%d-%m-%Y",
    "%d.%m.%Y", "%B %d, %Y", "%b %d, %Y", "%b %d %Y", "%B %d %Y", "%d %B %Y", "%d %b %Y",
    "%d-%b-%Y", "%d%b%Y", "%Y-%b-%d", "%a, %d %b %Y", "%a %b %d %Y", "%A, %B %d, %Y",
    "%A, %d %B %Y", "%d/%b/%Y", "%d%m%Y", "%m%d%Y", "%Y. %m. %d.", "%Y. %m. %d", "%Y年%m月%d日",
    "%Y년 %m월 %d일",
)  # fmt: skip
# A year of two digits may be of either century.
SHORT_DAYS = (
    "%m/%d/%y", "%d/%m/%y", "%y/%m/%d", "%d.%m.%y", "%m-%d-%y", "%d-%m-%y", "%y-%m-%d", "%d-%b-%y",
    "%d %b %y", "%d%b%y", "%b %d, %y",
)  # fmt: skip
_WHOLE = (
    "%Y%m%d%H%M%S", "%Y%m%dT%H%M%S", "%Y%m%dT%H%M%SZ", "%Y%m%d %H%M%S", "%a %b %d %H:%M:%S UTC %Y",
    "%a %b %d %H:%M:%S %Y", "%H:%M %d.%m.%Y", "%d/%b/%Y:%H:%M:%S %z",
)  # fmt: skip
_TIME = re.compile(
    r"(?P<gap>T|, ?| +)\d{1,2}:\d{2}(?P<seconds>:\d{2})?(?P<fraction>\.\d+)?"
    r"(?P<half> ?[AaPp][Mm])?(?P<zone> ?(?P<offset>[+-]\d{2}(?P<minutes>:?\d{2})?)| ?(Z|UTC|GMT))?$"
)
_YEAR = re.compile(r"(1[89]|20|21)\d{2}|25\d{2}")  # in Thailand, 2567 is 2024
MONTH_OF_YEAR = re.compile(
    r"(1[89]|20)\d{2}[-/.](0?[1-9]|1[0-2])|(0?[1-9]|1[0-2])[-/.](1[89]|20)\d{2}"
)
MOST_NUMBERS = 3
SOME_DATE = r"^\D{0,12}\d+.*\d.*$"


def formats_of(texts: pl.Series) -> list[str]:
    """The formats by which all distinct texts are dates or moments, with years from 1800 to 2200.

    A format with a year of two digits is named only if no other fits; that with the most days of a
    month is the first.
    """
    first = texts.head(FEW_TEXTS)
    if not len(texts) or not first.str.contains(SOME_DATE).all() or _has_decimal_or_address(first):
        return []
    for days in (DAYS, SHORT_DAYS):
        wanted = [*_with_times(days, texts), *(_WHOLE if days is DAYS else ())]
        found = [form for form in wanted if _all_dates(first, form) and _all_dates(texts, form)]
        if found:
            return (
                found
                if days is DAYS
                # Only days of a month take all values to 31; months end at 12.
                else sorted(found, key=lambda form: _count_absent_days(texts, form))
            )
    return []


def _count_absent_days(texts: pl.Series, form: str) -> int:
    """Days of a month that no text has."""
    return 31 - to_dates(texts, form).dt.day().n_unique()


def is_worded(text: str) -> bool:
    """Whether a text is a day, week, month or quarter that no format reads.

    Such as 5. März 2024, enero de 2024, 2024-W05, Q1 2024 and 2024-01.
    """
    if MONTH_OF_YEAR.fullmatch(text):
        return True
    words = tokenize_name(text)
    numbers = [word for word in words if word.isdecimal()]
    others = [word for word in words if not word.isdecimal()]
    about = [word for word in others if word in list_month_words() or word in list_calendar_words()]
    between = all(
        word in about or word in list_filler_words() or word in list_name_particles()
        for word in others
    )
    years = sum(_YEAR.fullmatch(number) is not None for number in numbers)
    return bool(about) and between and years == 1 and len(numbers) <= MOST_NUMBERS


def order_of(form: str) -> tuple[str, ...]:
    """In which order day, month and year stand."""
    return tuple(re.findall("%([dmY])", re.sub("%[bB]", "%m", form.replace("%y", "%Y"))))


def _with_times(days: tuple[str, ...], texts: pl.Series) -> Iterator[str]:
    """The formats of days, with the time of day that the texts have."""
    times = [_TIME.search(text) for text in texts.head(FEW_TEXTS).to_list()]
    # Some texts with a time and some without one: no single format reads them.
    if not all(times):
        return iter(days) if not any(times) else iter(())
    fraction = bool(texts.str.contains(r"\d:\d{2}\.\d").any())
    return (
        day + time
        for day in days
        for time in sorted({_find_time_format(t, fraction) for t in times if t})
    )


def _find_time_format(found: re.Match[str], fraction: bool) -> str:
    """The format of a time of day, such as `T%H:%M:%S%.f`."""
    half = found["half"] or ""
    zone = found["zone"] or ""
    seconds = "" if found["seconds"] is None else ":%S"
    gap = found["gap"] if found["gap"].strip() else " "
    clock = f"%I:%M{seconds}" if half else f"%H:%M{seconds}"
    blank = " " if half.startswith(" ") else ""
    ahead = " " if zone.startswith(" ") else ""
    offset = zone.strip()
    if found["offset"] or offset == "Z":
        offset = "%z" if found["minutes"] else "%#z"  # that one reads +00 and Z, too
    return (
        f"{gap}{clock}{'%.f' if fraction and seconds else ''}"
        f"{f'{blank}%p' if half else ''}{f'{ahead}{offset}' if zone else ''}"
    )


def _has_decimal_or_address(texts: pl.Series) -> bool:
    """Some text is a number with a fraction, or an address of the internet."""
    return bool(texts.str.contains(r"^[+-]?\d+[.,]\d+$|^(\d{1,3}\.){3}\d{1,3}$").any())


def _all_dates(texts: pl.Series, form: str) -> bool:
    dates = to_dates(texts, form)
    years = dates.dt.year()
    return dates.null_count() == 0 and bool(years.is_between(FIRST_YEAR, LAST_YEAR).all())
