"""The countries of the world as a tree: regions, the regions in them, codes of ISO 3166-1."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

from anon_core.specs.hierarchies import TOP, Hierarchy, read_hierarchy

CountryCode = Literal["alpha-2", "alpha-3"]
_CODES: tuple[CountryCode, ...] = ("alpha-2", "alpha-3")
_FILE = Path(__file__).with_name("countries.toml")


@cache
def build_country_tree(code: CountryCode) -> Hierarchy:
    """The tree whose leaves are codes of this form, with levels `continent` and `region`.

    United Nations, Standard Country or Area Codes for Statistical Use (M49).
    """
    continents: dict[str, dict[str, str]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    form = _CODES.index(code)
    lines = [
        (leaf.split("/")[form], region, continent, TOP)
        for continent, regions in continents.items()
        for region, leaves in regions.items()
        for leaf in leaves.split()
    ]
    return Hierarchy(read_hierarchy(enumerate(lines, 1)), levels=("continent", "region"))
