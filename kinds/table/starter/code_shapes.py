"""Codes that name a wider group: postal codes, ICD-10, NUTS, countries, branches of industry.

A wrong hierarchy costs more than none: a shape alone proves little, so it needs a name, a dot or
the codes of countries beside it.
"""

import re
from collections.abc import Sequence

import polars as pl

from crowdcover.kinds.table.plan.known_trees import (
    CountryCode,
    NaceCode,
    build_country_tree,
    build_nace_tree,
)
from crowdcover.kinds.table.starter.names import Name
from crowdcover.kinds.table.starter.proposal import Proposal, build_category_proposal
from crowdcover.kinds.table.starter.values import FEW, Values

_POSTAL = frozenset(("zip", "zipcode", "postcode", "postal", "plz", "postleitzahl"))
_POSTAL_CODE = re.compile(r"\d{4,6}")
_ICD = re.compile(r"[A-Z]\d[0-9AB](\.[0-9A-Z]{1,4})?")
_INDUSTRY = frozenset(("nace", "isic", "industry", "branche", "wirtschaftszweig"))
_LIKE_NACE = re.compile(r"[0-9]{1,2}(\.[0-9]{1,2})?")  # a number has no zeros at its ends
_NUTS = re.compile(r"[A-Z]{2}[0-9A-Z]{3}")
_COUNTRIES = frozenset(
    (
        *("AL", "AT", "BE", "BG", "CH", "CY", "CZ", "DE", "DK", "EE", "EL", "ES", "FI"),
        *("FR", "HR", "HU", "IE", "IS", "IT", "LI", "LT", "LU", "LV", "ME", "MK", "MT"),
        *("NL", "NO", "PL", "PT", "RO", "RS", "SE", "SI", "SK", "TR", "UK", "XK"),
    )
)


_OF_COUNTRIES = frozenset(
    (
        *("country", "countries", "nation", "nationality", "land", "staat", "pays", "pais", "país"),
        *("paese", "kraj", "ülke", "ulke", "страна", "χώρα", "国家", "国"),
    )
)


def propose_for_branches(name: Name, values: Values) -> Proposal | None:
    """Dotted codes of branches of industry that look like numbers with fractions."""
    if _INDUSTRY.isdisjoint(name.words) or values.numbers is None or values.whole:
        return None
    if not _have_form(_LIKE_NACE, values.distinct_texts.to_list()):
        return None
    if values.present.dtype == pl.String:
        return build_category_proposal(name, values, "codes by the name")
    lost = "codes by the name that were read as numbers and lost zeros; read the column as text"
    return build_category_proposal(name, values, lost, ("kind",))


def add_tree(name: Name, values: Values, proposal: Proposal) -> Proposal:
    """The proposal, with a hierarchy where name and values tell that they group."""
    if 'kind = "categorical"' not in proposal.settings or values.distinct <= FEW:
        return proposal
    codes = values.distinct_texts.to_list()
    known = {
        "countries": (
            _find_country_code(name, codes),
            "codes of countries (ISO 3166-1), which lie in regions",
        ),
        "nace": (
            "" if values.present.dtype.is_float() else _find_nace_code(name, codes),
            "codes of NACE Rev. 2 or ISIC Rev. 4, which lie in divisions and sections",
        ),
    }
    for kind, (form, what) in known.items():
        if form:
            tree = f'hierarchy = {{{kind} = "{form}"}}'
            reason = f"{what}: {proposal.reason}"
            return proposal._replace(reason=reason, settings=(*proposal.settings, tree))
    what = _name_codes(name, codes)
    lengths = _list_lengths(codes) if what else []
    if not lengths:
        return proposal
    tree = f"hierarchy = {{prefix = {lengths}}}"
    reason = f"{what}, whose first signs name a region or a group: {proposal.reason}"
    return proposal._replace(reason=reason, settings=(*proposal.settings, tree))


def _find_country_code(name: Name, codes: Sequence[str]) -> str:
    """The form of ISO 3166-1 that all codes have; empty where they may be codes of other things.

    Two letters need a name: those of many states of the USA are codes of countries, too.
    """
    forms: list[CountryCode] = ["alpha-3"]
    if not _OF_COUNTRIES.isdisjoint(name.words):
        forms.append("alpha-2")
    return next((form for form in forms if build_country_tree(form).paths.keys() >= {*codes}), "")


def _find_nace_code(name: Name, codes: Sequence[str]) -> str:
    """The form of NACE Rev. 2 that all codes have; empty where they may be codes of other things.

    Digits without a dot need a name: other codes of two to four digits are frequent.
    """
    forms: list[NaceCode] = []
    if all("." in code for code in codes):
        forms.append("dotted")
    elif not _INDUSTRY.isdisjoint(name.words):
        forms.append("plain")
    return next((form for form in forms if all(map(build_nace_tree(form).path_of, codes))), "")


def _name_codes(name: Name, codes: Sequence[str]) -> str:
    """What all of these codes are; empty where nothing tells it."""
    one_length = len({len(code) for code in codes}) == 1
    if not _POSTAL.isdisjoint(name.words) and one_length and _have_form(_POSTAL_CODE, codes):
        return "postal codes by name and shape"
    if _have_form(_ICD, codes) and ("icd" in name.words or any("." in code for code in codes)):
        return "shaped like codes of ICD-10"
    if _have_form(_NUTS, codes) and {code[:2] for code in codes} <= _COUNTRIES:
        return "shaped like regions of NUTS"
    return ""


def _have_form(form: re.Pattern[str], codes: Sequence[str]) -> bool:
    return all(map(form.fullmatch, codes))


def _list_lengths(codes: Sequence[str]) -> list[int]:
    """How many signs nodes keep: each level has half as many nodes as the one below, at least 2."""
    lengths, below = [], len(codes)
    for kept in range(max(map(len, codes)) - 1, 0, -1):
        starts = {code[:kept] for code in codes}
        nodes = len(starts)
        if 2 <= nodes <= below / 2 and not any(start.endswith(".") for start in starts):
            lengths.append(kept)
            below = nodes
    return lengths
