"""Telephone numbers: international, as countries write them, and bare where a word says so.

Digits without a word count if nearly all of the column's of one form are numbers of one country's
plan, more than random digits would be, and lie farther apart than serial numbers do.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray
from phonenumbers import (
    NumberParseException,
    PhoneNumberType,
    is_possible_number,
    is_valid_number,
    number_type,
    parse,
)

from crowdcover.validations.recognition.cells import Cells, any_word, build_loose_pattern
from crowdcover.validations.recognition.chance import compute_binomial_tail
from crowdcover.validations.recognition.words import load_words

ABROAD = re.compile(r"(?<![\w+])(?:\+ ?|00 ?)[1-9][\d ()./-]{6,22}\d(?!\w)")
_LEFT, _RIGHT = r"(?<![\w+])(?<!\d[.,/-])(?<!\d )", r"(?!\w)(?![.,/-]\d)(?! \d)"
# As countries write their own numbers, and a region in which such a number must be possible.
_FORMS = (
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
    r"|(?:19|20)\d{2} ?[-/] ?(?:19|20)\d{2}"
)
DECIMAL = re.compile(r"\d+\.\d+")
_TIME = re.compile(  # seconds or milliseconds since 1970, or a date, also with hours
    r"(?:[89]\d{8}|1\d{9}|2[0-2]\d{8})(?:\d{3})?"
    r"|(?:19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:(?:[01]\d|2[0-3])(?:\d{2}){0,2})?"
)
GEOID = re.compile(  # of a US census: state, county (nearly always odd), tract, block
    r"(?:0[1-9]|[1-4]\d|5[0-6])\d[0-4\d][13579]\d{6}(?:\d|\d{4})?"
)
MAY = r"\d[\d ()./-]{5,}\d"
NEAR = 30  # characters before a number in which a word may say that it is one of a telephone
_REGIONS = (
    *("US", "GB", "DE", "FR", "IT", "ES", "NL", "BE", "CH", "AT", "SE", "PL", "PT", "BR", "IN"),
    *("CN", "JP", "AU", "TR", "RU", "MX", "ZA"),
)
MORE_REGIONS = (
    *("CZ", "SK", "DK", "NO", "FI", "GR", "HU", "RO", "BG", "HR", "SI", "EE", "LV", "LT", "UA"),
    *("IE", "IL", "AR", "CL", "CO", "PE", "KR", "TH", "VN", "ID", "PH", "MY", "EG", "NG", "KE"),
)
_LEAST, _TRIED = 20, 300  # distinct bare numbers that are needed, and that are tried
_NEARLY_ALL, MOST_BY_CHANCE = 0.9, 1e-6
APART = 100  # numbers of one plan between two of the column, on average, at least
# Digits in groups: which are looked at, and in which amounts are written, too.
_GROUPED = re.compile(
    r"(?<![\w+])(?<!\d[.,/:-])(?<!\d )\(?\d{1,4}\)?([ .-])\d{2,7}(?:\1\d{2,7}){0,3}"
    r"(?!\w)(?![.,/:-]\d)(?! \d)"
)
DAY = r"(?:^|\s)[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}(?:$|[\s,;])"
LOOSELY = r"\d[\d ()./-]{7,}\d"  # eight digits and a sign between them
AMOUNT = re.compile(r"\d{1,3}(?:([ .])\d{3})(?:\1\d{3})*|[^ ./-]+[ ./-][^ ./-]+")
THREES, PAIRS = (re.compile(rf"{part}([ .-]){part}(?:(?:\1){part})*") for part in ("000", "00"))
_YEAR = re.compile(r"19|20")
LEAST_GROUPED, DRAWN, _FIRST = 5, 300, 20
_SEPARATORS = 0.1  # how often something else has the separators of a telephone number
MOST_GROUPED = 1e-5
FIXED = (PhoneNumberType.FIXED_LINE, PhoneNumberType.FIXED_LINE_OR_MOBILE)


def find_phones(cells: Cells) -> NDArray[np.bool_]:
    """Which cells hold a telephone number, bool (n,)."""
    named = cells.says(_build_header_pattern())
    digits = cells.contain(r"^\s*\d{7,15}\s*$")
    found = cells.nothing()
    if digits.any():
        bare = cells.texts.filter(pl.Series(digits)).str.strip_chars().str.strip_prefix("00")
        if named or _of_one_plan(bare.unique().sort().to_list()):
            found |= digits
    rest = cells.contain(MAY) & ~cells.digits
    if rest.any():
        rest &= cells.at_least(7)
        some = cells.where(rest)
        found[rest] = _in_texts(some, named=named) | _in_groups(some)
    return found


def _in_groups(cells: Cells) -> NDArray[np.bool_]:
    """Which texts hold digits in groups, if nearly all in these groups are of one country."""
    found = cells.nothing()
    forms: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    dateless = replace(cells, texts=cells.texts.str.replace_all(DAY, " "))
    for at, text in dateless.candidates(LOOSELY):
        for match in _GROUPED.finditer(text):
            number = re.sub(r"\D", "", match[0])
            other = DATE.fullmatch(match[0]) or DECIMAL.fullmatch(match[0])
            if 8 <= len(number) <= 11 and not other:
                forms[re.sub(r"\d", "0", match[0])][number].append(at)
    for form, numbers in forms.items():
        each = sorted(numbers)
        if (form.startswith("0000") and all(map(_YEAR.match, each))) or _are_times(form, each):
            continue
        rarer = 1 if AMOUNT.fullmatch(form) else _SEPARATORS
        if _of_one_country(each, rarer, 0.5 if THREES.fullmatch(form) else 1.0):
            found[[at for places in numbers.values() for at in places]] = True
    return found


def _are_times(form: str, distinct: list[str]) -> bool:
    """Whether groups of two digits are hours, minutes or days: three places have no high number."""
    pairs = zip(*(re.findall("..", number) for number in distinct), strict=True)
    return PAIRS.fullmatch(form) is not None and sum(max(place) < "60" for place in pairs) >= 3


def _of_one_country(distinct: list[str], rarer: float, most: float) -> bool:
    """Whether numbers in groups are nearly all of one plan, or all mobile, and not by chance."""
    if len(distinct) < LEAST_GROUPED or not _are_widely_spread(distinct):
        return False
    # A prefix may decide whether numbers are valid: all that share it are one piece of evidence.
    if len({number[:4] for number in distinct}) < 3:  # a part that all share
        return False
    tried = distinct[:: -(-len(distinct) // _TRIED)]
    first = tried[:: -(-len(tried) // _FIRST)]
    for region in (*_REGIONS, *MORE_REGIONS):
        for mobile in (False, True):
            # A few numbers first: they exclude a region at little cost. Mobile numbers are a part
            # of the others, so a region that fails with all of them is left at once.
            if sum(_is_personal_number(text, region, mobile) for text in first) < _NEARLY_ALL * len(
                first
            ):
                break
            valid = sum(_is_personal_number(text, region, mobile) for text in tried)
            if valid < _NEARLY_ALL * len(tried):
                break
            chance = _estimate_chance(region, mobile, len(tried[0]), tried[0][0] == "0")
            if (
                chance <= most
                and compute_binomial_tail(valid, len(tried), rarer * chance) <= MOST_GROUPED
            ):
                return True
    return False


@lru_cache(maxsize=1024)
def _estimate_chance(region: str, mobile: bool, length: int, zero: bool) -> float:
    """How many of random digits are a number of a region."""
    drawn = _draw_similar_digits(
        [f"{0 if zero else 1 + at % 9}".ljust(length, "0") for at in range(DRAWN)]
    )
    return max(1, sum(_is_personal_number(text, region, mobile) for text in drawn)) / DRAWN


def _is_personal_number(number: str, region: str, mobile: bool) -> bool:
    """Whether a number is one of people in a region: neither a service nor free of charge."""
    try:
        kind = number_type(parse(number, region))
    except NumberParseException:
        return False
    return kind == PhoneNumberType.MOBILE or kind in (FIXED[1:] if mobile else FIXED)


def _in_texts(cells: Cells, *, named: bool) -> NDArray[np.bool_]:
    """Which of these texts hold a number beside other signs."""
    found = cells.nothing()
    for at, text in cells.candidates(r"\+|00"):
        found[at] = _has_international_number(text)
    for region, form, loosely in _build_form_patterns():
        for at, text in cells.candidates(loosely):
            if not found[at]:
                found[at] = any(
                    is_possible(match[0], region)
                    and not DATE.fullmatch(match[0])
                    and not DECIMAL.fullmatch(match[0])
                    for match in form.finditer(text)
                )
    near = build_loose_pattern(list(load_words()["telephone"]["words"])) + rf".{{0,{NEAR}}}\d"
    for at, text in cells.candidates(MAY if named else near):
        if not found[at]:
            found[at] = _has_announced_number(text, named=named)
    return found


@cache
def _build_word_pattern() -> re.Pattern[str]:
    return any_word(list(load_words()["telephone"]["words"]))


@cache
def _build_header_pattern() -> re.Pattern[str]:
    return any_word(list(load_words()["telephone"]["headers"]))


@cache
def _build_form_patterns() -> tuple[tuple[str, re.Pattern[str], str], ...]:
    """Region, form, and the form for `Cells.contain`, which knows no repeated group."""
    return tuple(
        (region, re.compile(f"{_LEFT}(?:{form}){_RIGHT}"), form.replace(r"\1", "[ .-]"))
        for region, form in _FORMS
    )


def _has_international_number(text: str) -> bool:
    """Whether the code of a country and a possible number stand in a text."""
    for match in ABROAD.finditer(text):
        number = match[0]
        if number.startswith("+"):
            if is_possible(number, None):
                return True
        elif is_valid("+" + number[2:].lstrip(), None):
            return True
    return False


def _has_announced_number(text: str, *, named: bool) -> bool:
    """Whether a word before some digits, or the column's name, says that they are a number."""
    for match in SAID.finditer(text):
        digits = sum(sign.isdigit() for sign in match[0])
        if not 7 <= digits <= 15 or DATE.fullmatch(match[0]):
            continue
        if DECIMAL.fullmatch(match[0]) and not (named and match[0].index(".") <= 4):
            continue
        if named or _build_word_pattern().search(
            text[max(0, match.start() - NEAR) : match.start()].lower()
        ):
            return True
    return False


def _of_one_plan(distinct: list[str]) -> bool:
    """Whether bare digits are nearly all numbers of one country, and not by chance."""
    if (
        len(distinct) < _LEAST
        or not _are_widely_spread(distinct)
        or all(map(_TIME.fullmatch, distinct))
    ):
        return False
    if sum(map(bool, map(GEOID.fullmatch, distinct))) >= _NEARLY_ALL * len(distinct):
        return False
    tried = distinct[:: -(-len(distinct) // _TRIED)]
    for region in (None, *_REGIONS):
        plus = "+" * (region is None)
        valid = sum(is_valid(plus + text, region) for text in tried)
        if valid < _NEARLY_ALL * len(tried):
            continue
        # How full a plan is decides what a valid number tells: digits of equal shape are drawn.
        chance = sum(is_valid(plus + text, region) for text in _draw_similar_digits(tried)) / len(
            tried
        )
        if compute_binomial_tail(valid, len(tried), max(chance, 1 / len(tried))) <= MOST_BY_CHANCE:
            return True
    return False


def _are_widely_spread(distinct: list[str]) -> bool:
    """Whether numbers lie farther apart than serial numbers do."""
    values = [int(text) for text in distinct]
    return max(values) - min(values) >= APART * len(values)


def _draw_similar_digits(texts: list[str]) -> Iterator[str]:
    """Other digits, as many each, with the same first one: the same whenever they are drawn."""
    state = 1
    for text in texts:
        digits = [text[0]]
        for _ in text[1:]:
            # `&` binds last: a linear congruence modulo 2^64. Its low bits repeat soon, so high
            # ones are taken.
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
