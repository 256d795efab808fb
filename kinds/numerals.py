"""How numbers are written in texts: decimal comma, signs between thousands, currency, percent."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

# As they are written: `decimal` and `thousands`, in the order in which they are tried.
WAYS = (
    (".", ""), (",", ""), (".", ","), (",", "."), (",", " "), (".", " "), (".", "'"), (",", "'"),
)  # fmt: skip
MINUS = "\N{MINUS SIGN}"
APOSTROPHES = "'\N{RIGHT SINGLE QUOTATION MARK}"
CURRENCIES = (
    "$\u00a2-\u00a5\u058f\u060b\u09f2\u09f3\u0e3f\u17db\u20a0-\u20c0"  # as Unicode has them
)
_CODES = (
    "EUR|USD|GBP|CHF|JPY|CNY|INR|BRL|SEK|NOK|DKK|PLN|CZK|HUF|RON|BGN|ISK|TRY|RUB|UAH|ILS|AED|SAR|"
    "EGP|ZAR|NGN|KES|KRW|TWD|HKD|SGD|THB|IDR|MYR|PHP|VND|AUD|NZD|CAD|MXN|ARS|CLP|COP"
)
_UNITS = re.compile(
    rf"[{CURRENCIES}%\N{{PER MILLE SIGN}}]|R\$|US\$|A\$|C\$|{_CODES}|"
    "[Ee]uros?|[Kk]r|z\u0142|K\u010d|Ft|Fr|Rs|TL|Rp|lei|\u0440\u0443\u0431|\u0433\u0440\u043d|\u5186|\u5143|\uc6d0"
)
REST = rf"[^0-9\s.,{APOSTROPHES}+\-{MINUS}]"  # what is neither a digit nor a sign of a number


@dataclass(frozen=True, kw_only=True)
class Numerals:
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal : what stands before a fraction.
    thousands : what stands between groups of digits; a blank stands for any blank. Empty: nothing.
    strip : signs before and after a number that are taken off, such as $ and %.
    """

    decimal: str = "."
    thousands: str = ""
    strip: str = ""

    def plain(self, texts: pl.Series) -> pl.Series:
        """The numbers as programs write them; null for a text that is no number so written.

        Signs between thousands must stand where they belong: 1.5 is no number with thousands = ".".
        """
        found = texts.str.extract_groups(self._pattern()).struct.unnest()
        sign = pl.when(pl.col("sign").is_in(["-", MINUS])).then(pl.lit("-")).otherwise(pl.lit(""))
        whole = pl.col("whole").str.replace_all(r"\D", "")
        digits = pl.when(whole == "").then(pl.lit("0")).otherwise(whole)
        return found.select(
            # The pattern also takes a sign without a digit, which is no number.
            pl.when(whole.str.len_bytes() + pl.col("part").fill_null("").str.len_bytes() > 0).then(
                sign
                + digits
                + ("." + pl.col("part")).fill_null("")
                + ("e" + pl.col("power")).fill_null("")
            )
        ).to_series()

    @property
    def words(self) -> str:
        """What tells such numbers from those of programs."""
        between = {" ": "blanks", "'": "apostrophes", ".": "points", ",": "commas"}
        said = {
            "a decimal comma": self.decimal == ",",
            f"{between.get(self.thousands)} between thousands": bool(self.thousands),
            "a unit": bool(self.strip),
        }
        return "numbers with " + " and ".join(text for text, so in said.items() if so)

    def _pattern(self) -> str:
        signs = "".join(map(re.escape, self.strip))
        letters = "".join(sign for sign in self.strip if sign.isalpha())
        around = rf"(?:[{letters}]\.|[{signs}\s])*" if letters else rf"[{signs}\s]*"  # 350 kr.
        grouped = ""
        if self.thousands:
            between = {" ": r"\s", "'": f"[{APOSTROPHES}]"}.get(
                self.thousands, re.escape(self.thousands)
            )
            grouped = (
                # Groups of three; or, as in India, groups of two before the last three digits.
                rf"\d{{1,3}}(?:{between}\d{{3}})+|\d{{1,2}}(?:{between}\d\d)+{between}\d{{3}}|"
            )
        part = rf"(?:{re.escape(self.decimal)}(?P<part>\d*))?"
        power = r"(?:[eE](?P<power>[+-]?\d+))?"
        sign = rf"(?P<sign>[+\-{MINUS}]?)"
        return rf"^{around}{sign}{around}(?P<whole>{grouped}\d*){part}{power}{around}$"


class Guess(NamedTuple):
    """How texts that are no plain numbers may be read as numbers.

    `unsure`: the sign may as well stand between thousands, or before a fraction.
    """

    numerals: Numerals
    texts: int
    unsure: bool


def find_numerals(texts: pl.Series) -> Guess | None:
    """Find out how all texts are numbers; None if all are plain numbers, or some are none.

    Numbers with leading zeros are codes. Texts with two units, such as $ and €, are no amounts that
    can be compared.
    """
    distinct = texts.drop_nulls().unique()
    if not len(distinct) or distinct.cast(pl.Float64, strict=False).null_count() == 0:
        return None
    if not distinct.str.contains(r"\d").all():
        return None
    units = _find_common_unit(distinct)
    if units is None:
        return None
    strip = "".join(sorted(set(units)))
    ways = [Numerals(decimal=one, thousands=two, strip=strip) for one, two in WAYS]
    fitting = [way for way in ways if _are_numbers(way.plain(distinct))]
    if not fitting:
        return None
    # WAYS begins with the plainest, so this one has signs between thousands only if it must.
    chosen = fitting[0]
    if not chosen.thousands:
        for other in fitting:  # 1,234: the sign may stand between thousands as well
            if other.thousands == chosen.decimal and _is_ambiguous(chosen, other, distinct):
                return Guess(other, texts.len() - texts.null_count(), unsure=True)
    return Guess(chosen, texts.len() - texts.null_count(), unsure=False)


def _find_common_unit(distinct: pl.Series) -> str | None:
    """The unit that texts state, all the same one or none; None where they hold other texts."""
    rests: Sequence[str] = distinct.str.extract_all(REST).list.join("").unique().to_list()
    stated = [rest for rest in rests if rest]
    if len(stated) > 1 or any(_UNITS.fullmatch(rest) is None for rest in stated):
        return None
    return stated[0] if stated else ""


def _is_ambiguous(one: Numerals, other: Numerals, texts: pl.Series) -> bool:
    """Whether two ways of reading give other numbers."""
    return bool((one.plain(texts) != other.plain(texts)).any())


def _are_numbers(plain: pl.Series) -> bool:
    """Whether all are numbers, none of them with a leading zero."""
    return plain.null_count() == 0 and not plain.str.contains(r"^-?0\d").any()


def list_numeral_keys(numerals: Numerals) -> dict[str, str]:
    """The keys of the plan that state it, without those at their defaults."""
    stated = {
        "decimal": numerals.decimal, "thousands": numerals.thousands, "strip": numerals.strip,
    }  # fmt: skip
    return {key: sign for key, sign in stated.items() if sign != getattr(Numerals(), key)}
