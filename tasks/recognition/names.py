"""Names beside titles, numbers of documents beside the word, and columns that names are under.

A name without a title is not found: nothing tells it from other words.
"""

import re
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tasks.recognition.cells import BEFORE, Cells, any_word, loose
from tasks.recognition.words import load_words

NUMBER = re.compile(
    r"(?<![\w.,-])(?=[A-Z0-9]*\d[A-Z0-9]*\d[A-Z0-9]*\d)[A-Z]{0,3} ?[A-Z0-9]{5,12}(?!\w)"
)
MRZ = r"\b[PIACV][A-Z<][A-Z]{3}[A-Z<]{8,}<<?[A-Z]+<"
NAME = r"\p{Lu}[\p{L}'.-]*"
MANY = 10


def find_names(cells: Cells) -> NDArray[np.bool_]:
    """Cells with a title and a name, and those of a column that is called surname or the like."""
    found = cells.contain(_titled())
    if found.any():
        rest = cells.where(found)
        person = ~rest.contain(_no_person())
        found[np.flatnonzero(found)] = person
    found |= cells.contain(MRZ)
    if set(load_words()["columns"]["name"]) & _joined(cells.name) and len(cells.rows) >= MANY:
        found |= cells.contain(rf"^\s*{NAME}([ ,]+{NAME}){{0,4}}\s*$|^\s*\p{{Lo}}{{2,5}}\s*$")
    return found


def find_documents(cells: Cells) -> NDArray[np.bool_]:
    """Numbers of passports, licences, records and policies, where the word stands before them."""
    found = cells.nothing()
    named = _papers().search(cells.name) is not None
    may = r"\d" if named else loose(list(load_words()["document"]["words"]))
    for at, text in cells.candidates(may):
        lower = text.lower()
        for match in NUMBER.finditer(text.upper() if named else text):
            if sum(sign.isdigit() for sign in match[0]) < 4:
                continue
            before = lower[max(0, match.start() - BEFORE) : match.start()]
            if named or _papers().search(before):
                found[at] = True
                break
    return found


@cache
def _papers() -> re.Pattern[str]:
    return any_word(list(load_words()["document"]["words"]))


@cache
def _titled() -> str:
    titles: dict[str, list[str]] = load_words()["titles"]
    free, dotted, capital, small = (
        _any(titles[name]) for name in ("free", "dotted", "capital", "small")
    )
    start = r"(?:^|[^\p{L}\p{N}])"
    # Initials before M. or a street before Dr are no start of a title: John M. Smith, Oak Dr North.
    after = r"(?:^|[^\p{L}\p{N}\s.-]\s*|\p{Ll}[\p{L}]*\s+|[.!?:]\s+)"
    return "|".join(
        [
            rf"{start}(?:{free})\.?\s+(?:(?:{free}|{dotted})\.?\s+)*{NAME}",
            rf"{after}(?:{dotted})\.\s+(?:(?:{free}|{dotted})\.?\s+)*\p{{Lu}}[\p{{L}}'-]+",
            rf"{start}(?:{capital})\.?\s+\p{{Lu}}{{2,}}",
            rf"{start}(?:{small})\.?\s+(?:\p{{Ll}}{{3}}|\p{{Lu}}\p{{L}})",
            rf"[\p{{Han}}\p{{Hangul}}\p{{Hiragana}}\p{{Katakana}}]{{1,6}}\s?(?:{_any(titles['after'])})",
            rf"{NAME}\s+(?:{_any(titles['after_a_blank'])})(?:$|[^\p{{L}}])",
            rf"{start}(?:{_any(titles['right_to_left'])})\.?\s+[\p{{Arabic}}\p{{Hebrew}}]{{2,}}",
            rf"(?:{_any(titles['before_without_blank'])})\s?[\p{{Devanagari}}\p{{Thai}}]{{2,}}",
        ]
    )


@cache
def _no_person() -> str:
    """A firm that is called after a doctor, magnetic resonance, and the like."""
    titles: dict[str, list[str]] = load_words()["titles"]
    every = _any([*titles["free"], *titles["dotted"], *titles["capital"], *titles["small"]])
    firms, others = _any(titles["firms"]), _any(titles["no_person"])
    return (
        rf"(?i)(?:{every})\.?\s+(?:[\p{{L}}'.-]+[\s,]+){{1,4}}(?:{firms})(?:$|[^\p{{L}}]|atories)"
        rf"|(?:{every})\.?\s+(?:{others})"
    )


def _any(texts: list[Any]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


def _joined(name: str) -> set[str]:
    """Words of a column's name, and neighbours as one word: last name, lastname."""
    each = name.split()
    return {*each, *(one + other for one, other in pairwise(each))}
