"""What a browser complains about."""

import re
from itertools import pairwise
from typing import Any


def complaints(entry: dict[str, Any]) -> dict[str, Any]:
    """The faults that the browser's measurements of a page show."""
    levels = entry["headings"]
    in_order = (
        levels[0] == 1
        and levels.count(1) == 1
        and all(after <= before + 1 for before, after in pairwise(levels))
    )
    named = all(
        re.fullmatch(r"(?:image|img): (?:Line|Bar) chart of .+", drawing)
        for drawing in entry["drawings"]
    )
    good = {
        "lang": entry["lang"] == "en",
        "headings": in_order,
        "landmarks": sorted({*entry["landmarks"], "navigation"})
        == ["banner", "contentinfo", "main", "navigation"],
        "drawings": named,
        **{
            name: not entry[name]
            for name in (
                *("overflow", "beyond", "cut", "faint", "unnamed", "unreachable", "adrift"),
                "stuck",
            )
        },
    }
    return {name: entry[name] for name, holds in good.items() if not holds}
