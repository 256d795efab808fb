"""Names, numbers and contacts of people in cells: by shape, check digit and lists of names.

Counts of cells go into proposals, never a cell.
"""

import re
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import polars as pl
from stdnum import get_cc_module, iban, luhn

from crowdcover.kinds.table.starter.lexicon import (
    UNSPACED,
    list_name_particles,
    list_name_titles,
    name_ends,
    names_of_people,
    tokenize_name,
)
from crowdcover.validations.recognition.phones import is_possible, is_valid

ONE_IN = 10  # texts may be of another form
SAMPLE = 200  # distinct texts that are checked one by one
FEWEST = 6  # a check digit fits one number in ten by chance
PHONES = "telephone numbers"
CARD_NUMBERS = "numbers of payment cards"
_FORMS = {
    "e-mail addresses": r"[^@\s]+@[^@\s]+\.\w+",
    "web addresses": r"(https?://|www\.)\S+",
    "UUIDs": r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}",
    "IP addresses": r"(\d{1,3}\.){3}\d{1,3}",
    "social security numbers": r"\d{3}-\d{2}-\d{4}",
    PHONES: r"(\+\d{1,3}[ -/]?)?\(?\d{2,5}\)?[ -/]\d{3,4}[ -]?\d{3,5}",
}
# National numbers with check digits: country and module of stdnum.
NATIONAL = (
    ("at", "vnr"), ("au", "tfn"), ("be", "nn"), ("bg", "egn"), ("br", "cpf"), ("ca", "sin"),
    ("ch", "ssn"), ("cl", "rut"), ("cn", "ric"), ("cz", "rc"), ("de", "idnr"), ("dk", "cpr"),
    ("do", "cedula"), ("ec", "ci"), ("ee", "ik"), ("es", "dni"), ("es", "nie"), ("fi", "hetu"),
    ("fr", "nir"), ("gb", "nhs"), ("gr", "amka"), ("hr", "oib"), ("ie", "pps"), ("il", "idnr"),
    ("in_", "aadhaar"), ("is_", "kennitala"), ("it", "codicefiscale"), ("kr", "rrn"),
    ("lt", "asmens"), ("mx", "curp"), ("nl", "bsn"), ("no", "fodselsnummer"), ("pl", "pesel"),
    ("pt", "cc"), ("pt", "nif"), ("ro", "cnp"), ("se", "personnummer"), ("si", "emso"),
    ("sk", "rc"), ("th", "pin"), ("tr", "tckimlik"), ("ua", "rntrc"), ("za", "idnr"),
)  # fmt: skip
CARDS = (14, 19)  # digits of a payment card
# How cards of the great networks begin; then few numbers are enough.
_ISSUED = re.compile(r"4\d{15}|(5[1-5]|2[2-7])\d{14}|3[47]\d{13}|(6011|65\d\d|35\d\d)\d{12}")
PHONE = re.compile(r"(\+|00)?[\d ()./-]{7,22}")
PHONE_DIGITS = (7, 15)
_REGIONS = (
    "US", "GB", "DE", "FR", "ES", "IT", "PT", "BR", "NL", "BE", "CH", "AT", "PL", "CZ", "TR", "DK",
    "NO", "SE", "FI", "RU", "UA", "GR", "MX", "AR", "CO", "CL", "CN", "JP", "KR", "IN", "SA", "EG",
    "AE", "RO", "HU", "IE", "IL", "ID", "VN",
)  # fmt: skip
WORDS_OF_A_NAME = (1, 5)
UNCASED = re.compile(r"[\u0590-\u06ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# One to five words of letters that are neither capital nor small. Georgian has capitals that no
# name is written with. Lists of names know Chinese and Arabic ones.
UNCASED_WORDS = (
    r"^[\p{Lo}\p{Georgian}\p{M}]{2,}([ .\x{b7}\x{30fb}-]+[\p{Lo}\p{Georgian}\p{M}]+){0,4}$"
)
UNLISTED = r"[[\p{Lo}\p{Georgian}]--[\p{Han}\p{Arabic}]]"
_EMAIL = r"[^@\s<>(),;:]+@[^@\s<>(),;:]+\.\w{2,}"
IBAN = r"\b[A-Z]{2}\d{2} ?(?:[A-Z0-9]{4} ?){2,7}[A-Z0-9]{1,4}\b"
PHONE_WITHIN = r"(?:\+|\b00|\(?\b0)\d[\d ()/.-]{5,18}\d\b|\b\(?\d{3}\)?[ -]\d{3}[ -]\d{3,4}\b"
AFTER_A_NAME = ("先生", "女士", "小姐", "さん", "様", "씨")


class Held(NamedTuple):
    """What texts hold: a name for it, and how many of them hold it."""

    what: str
    texts: int


# ---------------------------------------------------------------- a column of nothing else


def find_contact_form(texts: Sequence[str]) -> str:
    """What nine of ten texts are: e-mail addresses, IBANs ...; empty for none of these."""
    for form, holds in CHECKED.items():
        if texts and _nearly_all(holds, texts):
            return form
    if texts and all(map(_is_issued, texts)):
        return CARD_NUMBERS
    # Few or short numbers pass a check digit by chance too often.
    numbers = len(texts) >= FEWEST and min(map(_count_digits, texts)) >= 8
    if numbers and _nearly_all(_is_card, texts):
        return CARD_NUMBERS
    if numbers and any(_nearly_all(module.is_valid, texts) for module in _load_number_modules()):
        return "national numbers with a check digit"
    return PHONES if _are_phones(texts) else ""


def are_names(texts: Sequence[str]) -> int:
    """How many texts are names of people by lists of names, if half of them are; else 0.

    Each text is one to five words. Chinese and Korean names begin with a surname.
    """
    hits = sum(map(is_name, texts))
    if hits < 2:
        return 0
    if sum(map(_is_unspaced, texts)) > len(texts) / 2:
        # A surname is one letter there, which begins other words, too.
        return hits if hits >= (0.8 * len(texts) if hits > 4 else len(texts)) else 0
    return hits if hits >= 0.5 * len(texts) else 0


@cache
def full_name() -> str:
    """Capital words: Ann Smith; Smith, Ann; Jean-Luc O'Hara; María de la Cruz; SMITH Ann B."""
    word = r"\p{Lu}[\p{L}'\u2019.-]*\p{L}"
    between = rf"( (\p{{Lu}}\.?)+| {word}| ({'|'.join(sorted(list_name_particles()))}))"
    return rf"^{word},?{between}{{0,4}} {word}\.?$"


def is_name(text: str) -> bool:
    """Whether a text has the shape of a name and one of its words is one."""
    words = text.replace(",", " ").split()
    low, high = WORDS_OF_A_NAME
    if not low <= len(words) <= high or any(sign.isdigit() for sign in text):
        return False
    known = names_of_people()
    if _is_unspaced(text):
        whole = "".join(words)
        first = whole[:1], whole[:2], whole[:3]
        return 2 <= len(whole) <= (5 if re.search("[\u3040-\u30ff]", whole) else 4) and any(
            begin in known for begin in first
        )
    if text.islower() and not UNCASED.search(text):  # `anna de boer`, not `baker`
        return len(words) > 1 and tokenize_name(text)[0] in known
    if not UNCASED.search(text) and not all(word[0].isupper() or len(word) < 4 for word in words):
        return False
    return any(word in known for word in tokenize_name(text)) or (
        len(words) > 1 and any(word.endswith(name_ends()) for word in tokenize_name(text))
    )


def _is_unspaced(text: str) -> bool:
    return UNSPACED.search(text) is not None


def _nearly_all(holds: Callable[[str], bool], texts: Sequence[str]) -> bool:
    """Whether nine of ten texts hold; most columns are out after a few."""
    allowed = len(texts) // ONE_IN
    for text in texts:
        allowed -= not holds(text)
        if allowed < 0:
            return False
    return True


def _count_digits(text: str) -> int:
    return sum(sign.isdigit() for sign in text)


def _is_card(text: str) -> bool:
    digits = re.sub(r"[ -]", "", text)
    return (
        CARDS[0] <= len(digits) <= CARDS[1] and digits.isdecimal() and bool(luhn.is_valid(digits))
    )


def _is_issued(text: str) -> bool:
    return _is_card(text) and _ISSUED.fullmatch(re.sub(r"[ -]", "", text)) is not None


def _is_iban(text: str) -> bool:
    return bool(iban.is_valid(text))


CHECKED: dict[str, Callable[[str], bool]] = {
    **{
        # The default binds this form's pattern; a closure would see the last one.
        form: (lambda text, pattern=re.compile(pattern): pattern.fullmatch(text) is not None)  # type: ignore[misc]
        for form, pattern in _FORMS.items()
    },
    "IBANs": _is_iban,
}


@cache
def _load_number_modules() -> list[Any]:
    return [get_cc_module(country.strip("_"), name) for country, name in NATIONAL]


def _are_phones(texts: Sequence[str]) -> bool:
    """International numbers, or valid ones of one country."""
    if not texts or not _nearly_all(_is_phone_like, texts):
        return False
    if _nearly_all(lambda text: is_phone(text, None), texts):
        return True
    if len(texts) < 3 or not _nearly_all(_is_long, texts):
        return False
    return any(_nearly_all(partial(is_phone, region=region), texts) for region in _REGIONS)


def _is_long(text: str) -> bool:
    """Nine digits, or eight in three groups: other codes may be numbers of some country, too."""
    return _count_digits(text) >= 9 or (
        _count_digits(text) == 8 and len(re.findall(r"\d+", text)) > 2
    )


def is_range(text: str) -> bool:
    """A range of numbers, such as 10000-19999."""
    found = re.fullmatch(r"([1-9]\d*) ?- ?([1-9]\d*)", text)
    return (
        found is not None
        and len(found[2]) - len(found[1]) in (0, 1)
        and int(found[1]) < int(found[2])
    )


def _is_phone_like(text: str) -> bool:
    low, high = PHONE_DIGITS
    shaped = PHONE.fullmatch(text) is not None and not is_range(text)
    return shaped and low <= _count_digits(text) <= high


def is_phone(text: str, region: str | None) -> bool:
    """Whether a text is a number of a country; without one, whether it states its country."""
    number = re.sub("^00", "+", text)
    return is_possible(number, None) if region is None else is_valid(number, region)


# ---------------------------------------------------------------- texts that hold some


def count_contacts(texts: pl.Series) -> list[Held]:
    """Contacts and names within distinct texts, each kind with the number of texts."""
    texts = texts.alias("")
    frame = texts.filter(texts.str.contains(r"\p{L}{2}"))  # codes look like telephone numbers
    kinds = {
        "e-mail addresses": _count_holding_texts(frame, _EMAIL, lambda _: True),
        "IBANs": _count_holding_texts(frame, IBAN, _is_iban),
        PHONES: _count_holding_texts(frame, PHONE_WITHIN, _is_some_phone),
        "names beside titles": int(frame.str.contains(_build_title_pattern()).sum()),
        "names of people": _count_holding_texts(frame, NAMED, _is_given),
    }
    return [Held(kind, number) for kind, number in kinds.items() if number]


NAMED = r"\p{Lu}\p{L}*\p{Ll} \p{Lu}[\p{L}'-]*\p{Ll}"


def _is_given(text: str) -> bool:
    """A given name and a capital word, both known as names."""
    return all(word in names_of_people() for word in tokenize_name(text))


def _is_some_phone(text: str) -> bool:
    return is_phone(text, None) or any(is_phone(text, region) for region in _REGIONS)


def _count_holding_texts(texts: pl.Series, pattern: str, holds: Callable[[str], bool]) -> int:
    """Texts with a part of the pattern that holds, scaled up if only some are looked at."""
    found = texts.filter(texts.str.contains(pattern))
    some = found.sort().gather_every(max(1, len(found) // SAMPLE))
    hits = sum(any(map(holds, parts)) for parts in some.str.extract_all(pattern).to_list())
    return hits * len(found) // max(1, len(some))


@cache
def _build_title_pattern() -> str:
    """A title before a capital word, or after a name in Chinese, Japanese and Korean."""
    before = [title for title in list_name_titles() if title not in AFTER_A_NAME]
    long = "|".join(re.escape(title) for title in before if len(title) > 1)
    # A single letter is a title only with its point, as in M. Roux.
    short = "|".join(re.escape(title) for title in before if len(title) == 1)
    after = "|".join(AFTER_A_NAME)
    return (
        rf"(^|[^\p{{L}}])(({long})\.?|({short})\.) ?(\p{{Lu}}\.? ?)*[\p{{Lu}}\p{{Lo}}]\p{{L}}+"
        rf"|[\x{{3400}}-\x{{9fff}}\x{{ac00}}-\x{{d7af}}]{{1,3}} ?({after})"
    )
