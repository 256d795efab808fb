"""Numbers that say whose they are: national numbers, cards, bank accounts, devices.

A check digit that one of ten numbers passes by chance is no evidence for one number. So a number
counts in one of four cases: its written form is no other's; a word beside it, or in the name of the
column, says what it is; or so many of the column's numbers of this form pass the check that chance
does not explain it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdcover.validations.recognition.cells import BEFORE, Cells, any_word
from crowdcover.validations.recognition.chance import compute_binomial_tail
from crowdcover.validations.recognition.words import load_numbers

_LEFT, _RIGHT = r"(?<!\w)(?<!\d[.,/-])(?<![+])", r"(?!\w)(?![.,/-]\d)"
# What each number beside other signs has somewhere: most texts have none of it.
SOME = (
    r"\d{2} ?\d{2} ?\d{2}|\d{2,4}[ .-]\d{3,5}[ .-]\d|\d{3}[- ]\d{2}[- ]\d{4}|\d{4}\.\d{2}\.\d{3}"
    r"|\d\.\d{3}\.\d{3}|\d \d{2} \d{2} \d|\d{2}\.\d{2}\.\d{2}-|\d{4}[ -]\d{4}|\d-\d{4}-|\d-\d{7}"
    r"|[A-Za-z]{2}\d{2}|[A-Z]{6}[\dLMNP-V]|[A-Z]{3} [A-Z]{3}|\d{2}[A-Z]\d{2}|\d{5}[A-Z]"
)
_SEPARATORS = 0.1  # how often something else has the separators of a number
SELDOM = 0.2  # a check that more numbers pass by chance is none
HALF = 0.5  # of the numbers of a form
WRITTEN, IN_TEXT, ALONE = 0.02, 1e-3, 1e-6  # most chance that is taken for evidence
_TRIED = 2_000  # bare numbers that are tried first


@dataclass(frozen=True)
class Number:
    """A sort of number as numbers.toml describes it."""

    name: str
    kind: str
    bare: str
    written: str
    form: bool
    chance: float
    plain: bool
    said: re.Pattern[str] = field(repr=False)
    check: Callable[[str], bool] | None = field(repr=False)

    @classmethod
    def of(cls, name: str, entry: dict[str, Any]) -> "Number":
        """From an entry of the file."""
        return cls(
            name,
            entry.get("kind", "national"),
            entry["bare"],
            entry.get("written", ""),
            entry.get("form", False),
            entry["chance"],
            entry.get("plain", False),
            any_word(entry["words"]),
            _build_number_check(entry["check"]) if "check" in entry else None,
        )

    @property
    def pattern(self) -> str:
        """Both forms."""
        return f"(?:{self.written}|{self.bare})" if self.written else f"(?:{self.bare})"

    @property
    def whole(self) -> str:
        """The bare form as a whole cell."""
        return rf"^\s*(?:{self.bare})\s*$"

    @cached_property
    def whole_pattern(self) -> re.Pattern[str]:
        """Both forms where they are no part of a longer one."""
        written = rf"(?<!\d[ -])(?:{self.written})(?![ -]\d)|" if self.written else ""
        return re.compile(f"{_LEFT}(?:{written}{self.bare}){_RIGHT}")

    @property
    def tells(self) -> bool:
        """Whether its check says anything."""
        return self.check is not None and self.chance <= SELDOM

    @cached_property
    def own_form(self) -> re.Pattern[str] | None:
        """The form that is evidence by itself."""
        return re.compile(self.written or self.bare) if self.form else None


@cache
def list_sorts() -> tuple[Number, ...]:
    """All sorts of numbers."""
    return tuple(Number.of(name, entry) for name, entry in load_numbers().items())


def find_numbers(cells: Cells, kind: str) -> NDArray[np.bool_]:
    """Which cells hold a number of this kind, bool (n,)."""
    found, asked = cells.nothing(), [sort for sort in list_sorts() if sort.kind == kind]
    if cells.digits.any():
        found[cells.digits] = _among_digits(cells.where(cells.digits), asked)
    rest = cells.contain(SOME) & ~cells.digits
    if rest.any():
        found[rest] = _among_texts(cells.where(rest), asked)
    return found


def _among_digits(cells: Cells, asked: list[Number]) -> NDArray[np.bool_]:
    """Which of these bare numbers count, by the name of their column or by their share."""
    found = cells.nothing()
    for sort in asked:
        named = cells.says(sort.said)
        if not named and not sort.tells:
            continue
        whole = cells.contain(sort.whole)
        if named:
            found |= whole
        elif whole.any() and _passes_often(cells.texts.filter(pl.Series(whole)), sort):
            whole_cells = [(at, text.strip()) for at, text in cells.candidates(sort.whole)]
            found[_find_convincing_cells(whole_cells, sort, sort.chance, ALONE)] = True
    return found


def _among_texts(cells: Cells, asked: list[Number]) -> NDArray[np.bool_]:
    """Which of these texts hold a number beside other signs."""
    found = cells.nothing()
    for sort in asked:
        named, form = cells.says(sort.said), sort.own_form
        written: list[tuple[int, str]] = []  # numbers that need a check
        bare: list[tuple[int, str]] = []
        for at, text in cells.candidates(sort.pattern):
            for match in sort.whole_pattern.finditer(text):
                number = match[0]
                before = text[max(0, match.start() - BEFORE) : match.start()].lower()
                if named or sort.said.search(before) or (form and form.fullmatch(number)):
                    found[at] = True
                elif sort.tells:
                    (bare if re.fullmatch(sort.bare, number) else written).append((at, number))
        # Where amounts are not written so, the separators are evidence, too.
        rarer = sort.chance * (1 if sort.plain else _SEPARATORS)
        found[_find_convincing_cells(written, sort, rarer, WRITTEN)] = True
        found[_find_convincing_cells(bare, sort, sort.chance, IN_TEXT)] = True
    return found


def _passes_often(numbers: pl.Series, sort: Number) -> bool:
    """Whether a quarter of up to `_TRIED` numbers passes: else it will not be half of all."""
    assert sort.check is not None
    first = numbers.gather_every(-(-len(numbers) // _TRIED)).str.strip_chars().to_list()
    return sum(map(sort.check, first)) >= HALF / 2 * len(first)


def _find_convincing_cells(
    candidates: list[tuple[int, str]], sort: Number, chance: float, most: float
) -> list[int]:
    """The cells whose numbers pass, if more of all pass than chance explains."""
    # Each number once: repeats are no further evidence, and would make chance look smaller.
    distinct = sorted({number for _, number in candidates})
    if not distinct:
        return []
    check = sort.check
    assert check is not None
    passed = {number for number in distinct if check(number)}
    if (
        len(passed) < HALF * len(distinct)
        or compute_binomial_tail(len(passed), len(distinct), chance) > most
    ):
        return []
    return [at for at, number in candidates if number in passed]


def _build_number_check(module: str) -> Callable[[str], bool]:
    """Whether a number passes the check of python-stdnum; what it cannot read does not."""
    checked = import_module(f"stdnum.{module}")

    def check(number: str) -> bool:
        number = re.sub(r"[ .-]", "", number) if module in ("luhn", "iban") else number
        try:
            if module == "iban":
                checked.validate(number.upper(), check_country=False)
                return True
            return bool(checked.is_valid(number))
        except Exception:  # some checks raise on what is no number
            return False

    return check
