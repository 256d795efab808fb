"""The texts of one column as recognisers take them: each once, in one spelling."""

import html
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.validations.recognition.words import load_words

SIGNS = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", ""),
    **dict.fromkeys("\u00a0\u2007\u2009\u202f\t\r\n", " "),
    **dict.fromkeys("\u2018\u2019\u02bc\u2032", "'"),
    **{chr(start + at): str(at) for start in (0x660, 0x6F0, 0x966) for at in range(10)},
}
ESCAPED = r"&#|&\w+;|\\u[0-9A-Fa-f]{4}|\\/|%[0-9A-Fa-f]{2}"
_WORDS = re.compile(r"[^\W\d_]+|\d+")
_WORD_ENDS = re.compile(r"(?<=[^\W\d_])(?=[A-Z][a-z])|(?<=[a-z])(?=[A-Z])")
BEFORE = 40  # characters before a candidate in which a word may say what it is


@dataclass(frozen=True)
class Cells:
    """The distinct cells of one column.

    Attributes
    ----------
    name : str
        Of the column, its words in small letters with blanks between them.
    texts : String (n,)
    rows : int64 (n,)
        How many rows have each text.
    beside : frozenset of str
        The names of all columns of the table, as they stand there.
    """

    name: str
    texts: pl.Series = field(repr=False)
    rows: NDArray[np.int64] = field(repr=False)
    beside: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, name: str, texts: pl.Series, rows: NDArray[np.int64], beside: Iterable[str] = ()
    ) -> "Cells":
        """In one spelling: compatible signs, escapes, dashes, blanks and digits of other scripts.

        `texts` has no missing values.
        """
        # First of all, since it turns wide and superscript signs into those that the patterns know.
        spelt = texts.alias("").str.normalize("NFKC")
        escaped = spelt.str.contains(ESCAPED)
        if escaped.any():
            plain = [_replace_escapes(text) for text in spelt.filter(escaped).to_list()]
            at = escaped.arg_true()
            spelt = spelt.scatter(at, plain)
        spelt = spelt.str.replace_many(list(SIGNS), list(SIGNS.values()))
        return cls(_normalize_name(name), spelt.alias(""), rows, frozenset(beside))

    @cached_property
    def digits(self) -> NDArray[np.bool_]:
        """Whether a text is one number of digits only, bool (n,)."""
        return self.contain(r"^\s*\d+\s*$")

    def at_least(self, digits: int) -> NDArray[np.bool_]:
        """Whether a text has so many digits, bool (n,)."""
        return np.asarray((self.texts.str.count_matches(r"\d") >= digits).to_numpy(), np.bool_)

    def contain(self, pattern: str) -> NDArray[np.bool_]:
        """Whether each text has a place that fits the pattern.

        All digits are of one script by now, and a search for those of all scripts is slow.
        """
        found = self.texts.str.contains(pattern.replace(r"\d", "[0-9]"))
        return np.asarray(found.to_numpy(), dtype=np.bool_)

    def candidates(self, pattern: str) -> Iterator[tuple[int, str]]:
        """Place and text of those that may hold something."""
        kept = self.contain(pattern)
        some = self.texts.filter(pl.Series(kept)).to_list()
        yield from zip(np.flatnonzero(kept).tolist(), some, strict=True)

    def has_beside(self, name: str) -> bool:
        """Whether the table has a column of this name, in words as `name` is."""
        return any(_normalize_name(each) == name for each in self.beside)

    @property
    def is_measure(self) -> bool:
        """Whether the name ends in a word such as `count`."""
        return self.name.rpartition(" ")[2] in load_words()["columns"]["measure"]

    def says(self, words: re.Pattern[str]) -> bool:
        """Whether one of the words is in the name, unless that ends in a word such as `count`.

        A `login_count` holds no logins. A `personal code` is one: its last word is a part of it.
        """
        last = self.name.rfind(" ") + 1
        return any(match.end() > last or not self.is_measure for match in words.finditer(self.name))

    def has_word(self, words: Collection[str]) -> bool:
        """Whether a word of the name, or two neighbours written as one, is one of the words."""
        if self.is_measure:
            return False
        each = self.name.split()
        return not {*each, *(one + other for one, other in pairwise(each))}.isdisjoint(words)

    def where(self, kept: NDArray[np.bool_]) -> "Cells":
        """Some of the texts."""
        return replace(self, texts=self.texts.filter(pl.Series(kept)), rows=self.rows[kept])

    def nothing(self) -> NDArray[np.bool_]:
        """No text at all, bool (n,)."""
        return np.zeros(len(self.rows), dtype=np.bool_)


def any_word(words: list[str]) -> re.Pattern[str]:
    """A pattern for one of the words; a word of at most four letters must stand alone."""
    # A short word begins many longer ones, as "tel" begins "television". In scripts without blanks
    # between words, such as Chinese, none would stand alone.
    each = [
        re.escape(word.lower()) + (r"(?![^\W\d_])" if len(word) <= 4 and word.isascii() else "")
        for word in words
    ]
    return re.compile(rf"(?<![^\W\d_])(?:{'|'.join(each)})")


def build_loose_pattern(words: list[str]) -> str:
    """The same for `Cells.contain`, which looks neither back nor ahead: it may find more."""
    # Finding more is safe, since an exact pattern looks again. Finding less would hide a number.
    return rf"(?i)(?:{'|'.join(re.escape(word) for word in words)})"


def _normalize_name(name: str) -> str:
    return " ".join(_WORDS.findall(_WORD_ENDS.sub(" ", name.replace("_", " ")))).lower()


def _replace_escapes(text: str) -> str:
    """Escapes of HTML, JSON and addresses of the web as the signs that they mean."""
    text = re.sub(r"\\u([0-9A-Fa-f]{4})", lambda found: chr(int(found[1], 16)), text)
    text = re.sub(r"%(2[0-9A-Fa-f]|3[0-9A-Fa-f]|40)", lambda found: chr(int(found[1], 16)), text)
    # An escape may be half of a pair of surrogates, which no text of polars can hold.
    return html.unescape(text).replace("\\/", "/").encode("utf-8", "replace").decode("utf-8")
