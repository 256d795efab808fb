"""Telephone numbers: international, as countries write them, and bare where a word says so.

Bare digits without a word count if nearly all of the column's are numbers of one country's plan,
more than random digits would be, and lie farther apart than serial numbers do.
"""

import re
from collections.abc import Iterator
from functools import cache

import numpy as np
import polars as pl
from numpy.typing import NDArray
from phonenumbers import NumberParseException, is_possible_number, is_valid_number, parse

from tasks.recognition.cells import Cells, any_word, loose
from tasks.recognition.chance import tail
from tasks.recognition.words import load_words

ABROAD = re.compile(r"(?<![\w+])(?:\+ ?|00 ?)[1-9][\d ()./-]{6,22}\d(?!\w)")
LEFT, RIGHT = r"(?<![\w+])(?<!\d[.,/-])(?<!\d )", r"(?!\w)(?![.,/-]\d)(?! \d)"
# As countries write their own numbers, and a region in which such a number must be possible.
FORMS = (
    ("US", r"\(\d{3}\)[ .-]?\d{3}[ .-]?\d{4}|(?:1[ .-])?\d{3}([ .-])\d{3}\1\d{4}"),
    ("US", r"\d{3}[/.-]\d{3}-\d{4}"),
    ("FR", r"0[1-9](?:[ .-]\d{2}){4}"),
    ("DE", r"\(0[1-9]\d{1,4}\) ?\d[\d /-]{3,10}\d|0[1-9]\d{1,4} ?/ ?\d[\d -]{3,10}\d"),
    ("DE", r"0[1-9]\d{1,3}[ -]\d{5,8}(?: ?- ?\d{1,4})?|0[1-9]\d{1,4} \d{2,5} \d{2,5}"),
    ("DE", r"01[5-7]\d{1,2}(?:[ /-]\d{2,3}){3,4}"),
    (
        "GB",
        r"\(0\d{4}\) ?\d{3} ?\d{3}|0\d{4} \d{3} ?\d{3}",
    ),
    ("GB", r"\(?0\d{3}\)? \d{3} \d{4}|\(?02\d\)? \d{4} \d{4}"),
    ("GB", r"07\d{3}[ -]\d{6}|07\d{3}[ -]\d{3}[ -]\d{3}"),
    ("IT", r"3\d{2}[ ./-]\d{6,7}|3\d{2} \d{3} \d{4}|0\d{1,3}[ /]\d{6,8}"),
    ("ES", r"[679]\d{2}(?: \d{2}){3}"),
    ("NL", r"06[ -]\d{8}|06(?:[ -]\d{2}){4}|0\d{1,3}-\d{6,7}"),
    ("BE", r"04\d{2}(?:[ /.]\d{2}){3}"),
    ("CH", r"0\d{2} \d{3} \d{2} \d{2}"),
    ("SE", r"0\d{1,3}-\d{2,3} ?\d{2} ?\d{2}(?: ?\d{2})?"),
    ("BR", r"\(\d{2}\) ?9?\d{4}[ -]\d{4}"),
    ("CN", r"1[3-9]\d([ -])\d{4}\1\d{4}"),
    ("IN", r"[6-9]\d{4}[ -]\d{5}"),
    ("JP", r"0\d{1,3}-\d{2,4}-\d{4}"),
    ("AU", r"04\d{2} \d{3} \d{3}|\(0[2378]\) ?\d{4} ?\d{4}"),
    ("TR", r"\(?0?5\d{2}\)? \d{3} \d{2} \d{2}"),
    ("RU", r"8[ -]?\(?\d{3}\)?[ -]?\d{3}-\d{2}-\d{2}"),
)
SAID = re.compile(r"(?<![\w.,])\(?\d[\d ()./-]{5,18}\d(?!\w)(?![.,]\d)")
DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:\D.*)?|\d{1,2}[-/.]\d{1,2}[-/.](?:\d{2}|\d{4})(?: .*)?"
    r"|\d{4} ?[-/] ?\d{4}|\d+\.\d+"
)
TIME = re.compile(  # seconds or milliseconds since 1970, or a date, also with hours
    r"(?:[89]\d{8}|1\d{9}|2[0-2]\d{8})(?:\d{3})?"
    r"|(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:(?:[01]\d|2[0-3])(?:\d{2}){0,2})?"
)
MAY = r"\d[\d ()./-]{5,}\d"
NEAR = 30  # characters before a number in which a word may say that it is one of a telephone
REGIONS = (
    *("US", "GB", "DE", "FR", "IT", "ES", "NL", "BE", "CH", "AT", "SE", "PL", "PT", "BR", "IN"),
    *("CN", "JP", "AU", "TR", "RU", "MX", "ZA"),
)
LEAST, TRIED = 20, 300  # distinct bare numbers that are needed, and that are tried
NEARLY_ALL, MOST_BY_CHANCE = 0.9, 1e-6
APART = 100  # numbers of one plan between two of the column, on average, at least


def find_phones(cells: Cells) -> NDArray[np.bool_]:
    """Which cells hold a telephone number, bool (n,)."""
    named = _headers().search(cells.name) is not None
    digits = cells.contain(r"^\s*\d{7,15}\s*$")
    found = cells.nothing()
    if digits.any():
        bare = cells.texts.filter(pl.Series(digits)).str.strip_chars().str.strip_prefix("00")
        if named or _of_one_plan(bare.unique().sort().to_list()):
            found |= digits
    rest = cells.contain(MAY) & ~cells.digits
    if rest.any():
        rest &= cells.at_least(7)
        found[rest] = _in_texts(cells.where(rest), named=named)
    return found


def _in_texts(cells: Cells, *, named: bool) -> NDArray[np.bool_]:
    """Which of these texts hold a number beside other signs."""
    found = cells.nothing()
    for at, text in cells.candidates(r"\+|00"):
        found[at] = _abroad(text)
    for region, form, loosely in _forms():
        for at, text in cells.candidates(loosely):
            if not found[at]:
                found[at] = any(
                    is_possible(match[0], region) and not DATE.fullmatch(match[0])
                    for match in form.finditer(text)
                )
    near = loose(list(load_words()["telephone"]["words"])) + rf".{{0,{NEAR}}}\d"
    for at, text in cells.candidates(MAY if named else near):
        if not found[at]:
            found[at] = _said(text, named=named)
    return found


@cache
def _words() -> re.Pattern[str]:
    return any_word(list(load_words()["telephone"]["words"]))


@cache
def _headers() -> re.Pattern[str]:
    return any_word(list(load_words()["telephone"]["headers"]))


@cache
def _forms() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Region, form, and the form for `Cells.contain`, which knows no repeated group."""
    return tuple(
        (region, re.compile(f"{LEFT}(?:{form}){RIGHT}"), form.replace(r"\1", "[ .-]"))
        for region, form in FORMS
    )


def _abroad(text: str) -> bool:
    """Whether the code of a country and a possible number stand in a text."""
    for match in ABROAD.finditer(text):
        number = match[0]
        if number.startswith("+"):
            if is_possible(number, None):
                return True
        elif is_valid("+" + number[2:].lstrip(), None):
            return True
    return False


def _said(text: str, *, named: bool) -> bool:
    """Whether a word before some digits, or the column's name, says that they are a number."""
    for match in SAID.finditer(text):
        digits = sum(sign.isdigit() for sign in match[0])
        if not 7 <= digits <= 15 or DATE.fullmatch(match[0]):
            continue
        if named or _words().search(text[max(0, match.start() - NEAR) : match.start()].lower()):
            return True
    return False


def _of_one_plan(distinct: list[str]) -> bool:
    """Whether bare digits are nearly all numbers of one country, and not by chance."""
    values = [int(text) for text in distinct]
    if len(values) < LEAST or max(values) - min(values) < APART * len(values):
        return False
    if all(map(TIME.fullmatch, distinct)):
        return False
    tried = distinct[:: -(-len(distinct) // TRIED)]
    for region in (None, *REGIONS):
        plus = "+" * (region is None)
        valid = sum(is_valid(plus + text, region) for text in tried)
        if valid < NEARLY_ALL * len(tried):
            continue
        chance = sum(is_valid(plus + text, region) for text in _alike(tried)) / len(tried)
        if tail(valid, len(tried), max(chance, 1 / len(tried))) <= MOST_BY_CHANCE:
            return True
    return False


def _alike(texts: list[str]) -> Iterator[str]:
    """Other digits, as many each, with the same first one: the same whenever they are drawn."""
    state = 1
    for text in texts:
        digits = [text[0]]
        for _ in text[1:]:
            state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            digits.append(str((state >> 33) % 10))
        yield "".join(digits)


def is_possible(number: str, region: str | None) -> bool:
    """Whether a text has as many digits as a number of a country; None: it states the country."""
    try:
        return is_possible_number(parse(number, region))
    except NumberParseException:
        return False


def is_valid(number: str, region: str | None) -> bool:
    """Whether a text is in a country's plan of numbers; None: it states the country."""
    try:
        return is_valid_number(parse(number, region))
    except NumberParseException:
        return False
