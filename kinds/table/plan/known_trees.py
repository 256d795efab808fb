"""Trees of codes that a plan names without a file: countries, and branches of industry."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from anon_core.specs.hierarchies import TOP, Hierarchy, read_hierarchy

CountryCode = Literal["alpha-2", "alpha-3"]
NaceCode = Literal["dotted", "plain"]
_CODES: tuple[CountryCode, ...] = ("alpha-2", "alpha-3")
_KEPT: Mapping[NaceCode, tuple[int, ...]] = {"dotted": (4, 2), "plain": (3, 2)}
_FORM_OF_CODE: Mapping[NaceCode, str] = {
    "dotted": r"[0-9]{2}(\.[0-9]{1,2})?",
    "plain": "[0-9]{2,4}",
}


@cache
def build_country_tree(code: CountryCode) -> Hierarchy:
    """The tree whose leaves are codes of this form, with levels `continent` and `region`.

    United Nations, Standard Country or Area Codes for Statistical Use (M49).
    """
    form = _CODES.index(code)
    paths = [(*above, codes.split("/")[form]) for above, codes in _list_known_leaves("countries")]
    lines = [(*path[::-1], TOP) for path in paths]
    return Hierarchy(read_hierarchy(enumerate(lines, 1)), levels=("continent", "region"))


@cache
def build_nace_tree(code: NaceCode) -> Hierarchy:
    """The tree of NACE Rev. 2, with levels `section`, `division` and `group`.

    Divisions lie in sections, the first three digits of a code are its group. A dotted code is
    62.01, a plain one 6201; both may be shorter, and no other text is a leaf.
    """
    sections = {division: above[-1] for above, division in _list_known_leaves("nace")}
    levels = ("section", "division", "group")
    return Hierarchy(prefix=_KEPT[code], above=sections, form=_FORM_OF_CODE[code], levels=levels)


def _list_known_leaves(name: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each leaf of a file of tables in tables, behind the names above it, from the top on."""
    text = Path(__file__).with_name(f"{name}.toml").read_text(encoding="utf-8")
    waiting: list[tuple[tuple[str, ...], Any]] = [((), tomllib.loads(text))]
    while waiting:
        above, below = waiting.pop()
        if isinstance(below, str):
            yield from ((above, leaf) for leaf in below.split())
        else:
            waiting += [((*above, name), each) for name, each in reversed(below.items())]
