"""Sizes as people write them: `4GiB`."""

import re

UNITS = {"b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "kb": 10**3, "mb": 10**6, "gb": 10**9}


def parse_size(text: str) -> int | None:
    """Return the bytes of a number and a unit, such as 4GiB; None where it is none."""
    found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([a-z]+)\s*", text, flags=re.IGNORECASE)
    if found is None or found[2].lower() not in UNITS:
        return None
    return int(float(found[1]) * UNITS[found[2].lower()])
