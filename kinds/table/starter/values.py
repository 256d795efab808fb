"""Figures about the values of one column. They are counts and shares, never values."""

import re
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.kinds.columns import UTC
from crowdcover.kinds.table.starter import contacts
from crowdcover.kinds.table.starter.contacts import SAMPLE
from crowdcover.kinds.table.starter.moments import formats_of, is_worded
from crowdcover.storage.source.values import EXACT

SHARED_BY = 5  # the k that a starter plan proposes
LIKE_TIME = r"(^|\D)(1[89]|20)\d{2}(\D|$)|(^|\D)\d{1,2}:\d{2}(\D|$)"
_NEARLY = 0.9
FEW = 20  # up to this many distinct whole numbers may be codes or counts
WIDEST = 2_000  # a range of whole numbers that can be looked at one by one
SMOOTH = 0.5  # correlation of neighbouring frequencies: ages reach 0.9, codes 0
LONG_TAIL = 4
LONG_NUMBER = 8  # digits
_NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
PERCENTAGE = r"^[+-]?\d+([.,]\d+)?\s?%$"


class Values:
    """The values of a column without those that are missing, and figures about them.

    `unit`: they are numbers that were written with one, such as €.
    """

    def __init__(self, series: pl.Series, *, unit: bool = False) -> None:
        self.unit = unit
        self.rows = len(series)
        self.present = series.alias("").drop_nulls()  # polars takes ^a$ for a pattern
        self.number = len(self.present)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Rows of each distinct value."""
        return self.present.unique_counts().to_numpy().astype(np.int64)

    @property
    def distinct(self) -> int:
        """Distinct values."""
        return len(self.counts)

    @property
    def commonest(self) -> int:
        """Rows of the commonest value."""
        return int(self.counts.max(initial=0))

    @cached_property
    def scarce(self) -> int:
        """Rows whose value fewer than `SHARED_BY` rows share."""
        return int(self.counts[self.counts < SHARED_BY].sum())

    @property
    def is_unshared(self) -> bool:
        """Each row has a value of its own."""
        return self.distinct == self.number > 2

    @cached_property
    def distinct_texts(self) -> pl.Series:
        """Distinct values as texts."""
        return self.present.unique().cast(pl.String)

    @cached_property
    def length(self) -> float:
        """Characters of a distinct value, on average."""
        return float(np.mean(self.distinct_texts.str.len_chars().to_numpy()))

    @cached_property
    def some(self) -> list[str]:
        """Distinct values as texts, a sample of them in a fixed order."""
        texts = self.distinct_texts.sort()
        # All texts, or evenly spaced ones: fewer than 2 * SAMPLE.
        return texts.gather_every(max(1, len(texts) // SAMPLE)).to_list()

    @cached_property
    def is_text(self) -> bool:
        """Texts, not numbers or dates."""
        return self.present.dtype == pl.String and self.numbers is None and not self.formats

    @cached_property
    def form(self) -> str:
        """What nine of ten values look like: e-mail addresses, IBANs ...; empty for none of these.

        Up to twice `SAMPLE` distinct values are looked at.
        """
        if self.is_text or self.formats:
            return "" if self.formats else contacts.find_contact_form(self.some)
        step = max(1, self.distinct // SAMPLE)
        return (
            contacts.find_contact_form([f"{n:.0f}" for n in self.levels[::step]])
            if self.whole
            else ""
        )

    @cached_property
    def held(self) -> list[contacts.Held]:
        """Contacts and names within texts."""
        return contacts.count_contacts(self.distinct_texts) if self.is_text else []

    @cached_property
    def listed_names(self) -> int:
        """Distinct texts that lists know as names of people, scaled up from a sample; else 0."""
        if not self.is_text:
            return 0
        return contacts.are_names(self.some) * self.distinct // len(self.some)

    @cached_property
    def full_names(self) -> int:
        """Distinct texts of capital words, if eight of ten are, as names of people are; else 0.

        Of a few texts, all are.
        """
        if not self.is_text:
            return 0
        number = int(self.distinct_texts.str.contains(contacts.full_name()).sum())
        least = 0.8 if self.distinct > FEW else 1.0
        return number if number >= least * self.distinct else 0

    @cached_property
    def percentages(self) -> bool:
        """All texts are percentages with their sign."""
        return self.is_text and bool(self.distinct_texts.str.contains(PERCENTAGE).all())

    @property
    def has_person_numbers(self) -> bool:
        """Texts with digits in most values, as numbers of people have and names have not."""
        return bool(self.distinct_texts.str.contains(r"[\d@]").mean() >= 0.5)  # type: ignore[operator]

    @cached_property
    def formats(self) -> list[str]:
        """Formats by which all texts are dates; a list with an empty text for a type of dates."""
        if self.present.dtype == pl.Date or isinstance(self.present.dtype, pl.Datetime):
            return [""]
        if self.present.dtype != pl.String:
            return []
        return formats_of(self.distinct_texts)

    @cached_property
    def has_worded_times(self) -> bool:
        """Nearly all texts are days, weeks or months that no format reads, such as mai 2024."""
        some = self.some if self.is_text else []
        return bool(some) and sum(map(is_worded, some)) >= _NEARLY * len(some)

    @cached_property
    def is_uncased(self) -> bool:
        """Half of the texts are words of a script without capitals and without lists of names."""
        words = self.distinct_texts.str.contains(contacts.UNCASED_WORDS)
        words &= self.distinct_texts.str.contains(contacts.UNLISTED)
        return self.is_text and bool(words.sum() >= self.distinct / 2)

    @cached_property
    def long_numbers(self) -> bool:
        """All texts have as many digits as numbers of people have, and are no ranges."""
        long = (self.distinct_texts.str.count_matches(r"\d") >= LONG_NUMBER).all()
        return bool(long) and not any(map(contacts.is_range, self.some))

    @property
    def like_times(self) -> bool:
        """Nearly all texts hold a year or a time of day, though no format reads them as dates."""
        some = pl.Series(self.some)
        return bool(some.str.contains(LIKE_TIME).sum() >= _NEARLY * len(some))

    @property
    def in_utc(self) -> bool:
        """A type of moments, whose day depends on the zone."""
        dtype = self.present.dtype
        return isinstance(dtype, pl.Datetime) and dtype.time_zone == UTC

    @cached_property
    def numbers(self) -> pl.Series | None:
        """The values as numbers if all are finite and keep their digits (00501 is a code)."""
        if self.present.dtype != pl.String and not self.present.dtype.is_numeric():
            return None
        if self.present.dtype == pl.String and self.present.str.contains(r"^[+-]?0\d").any():
            return None
        numbers = self.present.cast(pl.Float64, strict=False)
        exact = numbers.null_count() == 0 and bool((numbers.abs() < EXACT).all())
        return numbers if exact else None

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """The numbers as an array; empty where the values are none."""
        return np.empty(0) if self.numbers is None else self.numbers.to_numpy()

    @cached_property
    def whole(self) -> bool:
        """All values are whole numbers."""
        return self.numbers is not None and bool((self.floats == np.floor(self.floats)).all())

    @cached_property
    def negative(self) -> bool:
        """Some number is negative."""
        return bool((self.floats < 0).any())

    @cached_property
    def levels(self) -> NDArray[np.float64]:
        """The distinct numbers, ascending."""
        return np.unique(self.floats)

    @property
    def is_gapless(self) -> bool:
        """The whole numbers run from 0 or 1 without a gap."""
        if not self.whole or not self.distinct:
            return False
        low, high = self.levels[0], self.levels[-1]
        return low in (0, 1) and high - low + 1 == len(self.levels)

    @property
    def in_order_of_rows(self) -> bool:
        """Numbered in the order in which they occur first, as programs number categories."""
        first = self.present.unique(maintain_order=True).cast(pl.Float64, strict=False).to_numpy()
        return self.is_gapless and len(first) > 3 and bool((np.diff(first) == 1).all())

    @property
    def is_ascending(self) -> bool:
        """No number is less than that of the row before."""
        return bool((np.diff(self.floats) >= 0).all())

    @property
    def smooth(self) -> bool:
        """Whole numbers beside each other are about as frequent, as ages are and codes are not."""
        # Without outermost numbers, such as 9999: they would stretch the range.
        low, high = np.quantile(self.floats, [0.01, 0.99])
        if not (self.whole and FEW <= high - low < WIDEST):
            return False
        inner = self.floats[(self.floats >= low) & (self.floats <= high)]
        # Logarithms, or one crowded number would decide the correlation alone.
        heights = np.log1p(np.bincount((inner - low).astype(np.int64)))
        if heights.min() == heights.max():  # as even as numbers of groups
            return False
        spread = heights - heights.mean()
        # The autocorrelation at lag 1, without its division.
        return bool(spread[:-1] @ spread[1:] >= SMOOTH * (spread @ spread))

    def within(self, low: float, high: float) -> bool:
        """All values are numbers from low to high."""
        return self.numbers is not None and bool(
            ((self.floats >= low) & (self.floats <= high)).all()
        )

    @property
    def round_amounts(self) -> int:
        """Numbers other than 0 that are multiples of 100, in a long tail as of money; else 0."""
        amounts = np.abs(self.floats[self.floats != 0])
        if self.distinct <= FEW or len(amounts) == 0:
            return 0
        middle, high = np.quantile(amounts, [0.5, 0.99])
        number = int((amounts % 100 == 0).sum())
        return (
            number
            if number >= len(amounts) / 2 and high >= 1000 and high >= LONG_TAIL * middle
            else 0
        )

    @property
    def long_tail(self) -> bool:
        """Most distinct numbers are far smaller than the largest; numbers of things spread evenly.

        Evenly spread numbers from 1 on have a 99th percentile of twice the median.
        """
        middle, high = np.quantile(np.abs(self.levels), [0.5, 0.99])
        return bool(high >= LONG_TAIL * middle)


def is_numeral(text: str) -> bool:
    """Whether one text is a number."""
    return _NUMERAL.fullmatch(text) is not None
