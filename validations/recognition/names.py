"""Names beside titles, numbers of documents beside the word, and columns that names are under.

A name without a title is not found: nothing tells it from other words.
"""

import re
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdcover.validations.recognition.cells import BEFORE, Cells, any_word, build_loose_pattern
from crowdcover.validations.recognition.words import load_words

_NUMBER = re.compile(
    r"(?<![\w.,-])(?=[A-Z0-9]*\d[A-Z0-9]*\d[A-Z0-9]*\d)[A-Z]{0,3} ?[A-Z0-9]{5,12}(?!\w)"
)
MRZ = r"\b[PIACV][A-Z<][A-Z]{3}[A-Z<]{8,}<<?[A-Z]+<"
_DEGREES = r"M\.D\.|Ph\.\s?D\.|D\.D\.S\.|DDS|Esq\."
_NAME = r"\p{Lu}[\p{L}'.-]*"
_MANY = 10


def find_names(cells: Cells) -> NDArray[np.bool_]:
    """Cells with a title and a name, and those of a column that is called surname or the like."""
    found = cells.contain(_build_title_pattern())
    if found.any():
        rest = cells.where(found)
        person = ~rest.contain(_no_person())
        found[np.flatnonzero(found)] = person
    found |= cells.contain(MRZ) | _find_named(cells)
    if cells.has_word(_name_words()) and len(cells.rows) >= _MANY:
        found |= cells.contain(rf"^\s*{_NAME}([ ,]+{_NAME}){{0,4}}\s*$|^\s*\p{{Lo}}{{2,5}}\s*$")
    return found


def find_documents(cells: Cells) -> NDArray[np.bool_]:
    """Numbers of passports, licences, records and policies, where the word stands before them."""
    found = cells.nothing()
    named = cells.says(_build_document_pattern())
    may = r"\d" if named else build_loose_pattern(list(load_words()["document"]["words"]))
    for at, text in cells.candidates(may):
        lower = text.lower()
        for match in _NUMBER.finditer(text.upper() if named else text):
            if sum(sign.isdigit() for sign in match[0]) < 4:
                continue
            before = lower[max(0, match.start() - BEFORE) : match.start()]
            if named or _build_document_pattern().search(before):
                found[at] = True
                break
    return found


@cache
def _build_document_pattern() -> re.Pattern[str]:
    return any_word(list(load_words()["document"]["words"]))


@cache
def _build_title_pattern() -> str:
    titles: dict[str, list[str]] = load_words()["titles"]
    free, dotted, capital, small = (
        _join_alternatives(titles[name]) for name in ("free", "dotted", "capital", "small")
    )
    degrees, particles = (
        _join_alternatives(titles["degrees"]),
        _join_alternatives(titles["particles"]),
    )
    start = r"(?:^|[^\p{L}\p{N}])"
    link = r"(?:\.\s*|\s+)"  # Dr. Meier, Dr.Meier, Dr Meier
    more = (
        rf"(?:(?:(?:{free}|{dotted}|{degrees}){link})*"
        rf"(?:[(]?(?:{particles})\s+|[dlDL]['])*)"
    )
    # Initials before M. or a street before Dr are no start of a title: John M. Smith, Oak Dr North.
    after = r"(?:^|[^\p{L}\p{N}\s.-]\s*|\p{Ll}[\p{L}]*\s+|[.!?:]\s+)"
    return "|".join(
        [
            rf"{start}(?:{free}){link}{more}{_NAME}",
            rf"{after}(?:{dotted})\.\s*{more}\p{{Lu}}[\p{{L}}'-]+",
            rf"(?:^|[.!?:;,(]\s*|{start}(?:{_join_alternatives(titles['before_dr'])})\s+)dr\.?\s+{more}\p{{L}}{{3}}",
            rf"{start}(?:{capital})\.?\s+\p{{Lu}}{{2,}}|^(?:DR|PROF)\.?\s+\p{{Lu}}{{2,}}",
            rf"\p{{Lu}}[\p{{L}}'-]+,\s+(?:{free})\.?(?:$|[^\p{{L}}])",
            rf"\p{{Lu}}\p{{L}}+\s+(?:\p{{Lu}}\.?\s+)?\p{{Lu}}[\p{{L}}'-]+,\s+(?:{_DEGREES})(?:$|[^\p{{L}}])",
            rf"{start}(?:{small})\.?\s+(?:\p{{Ll}}{{3}}|\p{{Lu}}\p{{L}})",
            rf"[\p{{Han}}\p{{Hangul}}\p{{Hiragana}}\p{{Katakana}}]{{1,6}}\s?(?:{_join_alternatives(titles['after'])})",
            rf"{_NAME}\s+(?:{_join_alternatives(titles['after_a_blank'])})(?:$|[^\p{{L}}])",
            rf"{start}(?:{_join_alternatives(titles['right_to_left'])})\.?\s+[\p{{Arabic}}\p{{Hebrew}}]{{2,}}",
            rf"(?:{_join_alternatives(titles['before_without_blank'])})\s?[\p{{Devanagari}}\p{{Thai}}]{{2,}}",
        ]
    )


@cache
def _no_person() -> str:
    """A firm that is called after a doctor, magnetic resonance, and the like."""
    titles: dict[str, list[str]] = load_words()["titles"]
    every = _join_alternatives(
        [*titles["free"], *titles["dotted"], *titles["capital"], *titles["small"]]
    )
    firms, others = _join_alternatives(titles["firms"]), _join_alternatives(titles["no_person"])
    jobs, streets = _join_alternatives(titles["jobs"]), _join_alternatives(titles["streets"])
    return (
        rf"(?i)(?:{every})(?:\.\s*|\s+)(?:[\p{{L}}'.-]+[\s,]+){{1,4}}(?:{firms})(?:$|[^\p{{L}}]|atories)"
        rf"|(?-i:(?:{every})\.?\s+(?:{others}))"
        rf"|(?-i:(?:^|[^\p{{L}}])(?:Sr|Jr)\.?\s+(?:[\p{{L}}/&-]+\s+){{0,3}}\p{{L}}*(?:{jobs})(?:$|[^\p{{L}}]))"
        rf"|(?-i:\p{{L}}+\s+[Dd]r\.?\s+(?:{streets})(?:$|[^\p{{L}}])"
        rf"|^\s*\d+\s+(?:\p{{Lu}}[\p{{L}}.']*\s+){{1,3}}Dr(?:$|[^.\p{{L}}]))"
    )


def _find_named(cells: Cells) -> NDArray[np.bool_]:
    """Names after a key such as first_name, in JSON or key=value; not a word such as `null`."""
    words = "|".join(word.replace(" ", "[ _-]?") for word in load_words()["columns"]["name"])
    key = rf"(?i)(?:^|[^\p{{L}}])(?:{words})"
    quoted, plain = rf"{key}['\"]\s*:\s*['\"]\s*", rf"{key}\s*[=:]\s*"
    found = cells.contain(rf"{quoted}\p{{L}}{{2}}|{plain}['\"]?(?-i:\p{{Lu}}|\p{{Lo}})\p{{L}}")
    if found.any():
        idle = rf"(?:{_join_alternatives(load_words()['titles']['no_name'])})(?:$|[^\p{{L}}])"
        some = cells.where(found).texts
        number = some.str.count_matches(rf"{quoted}\p{{L}}{{2}}|{plain}['\"]?\p{{L}}{{2}}")
        empty = some.str.count_matches(rf"{quoted}{idle}|{plain}['\"]?{idle}")
        found[np.flatnonzero(found)] = (number > empty).to_numpy()
    return found


def _join_alternatives(texts: list[Any]) -> str:
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


def _name_words() -> set[str]:
    return {word.replace(" ", "") for word in load_words()["columns"]["name"]}
