"""Which keys a manifest may hold: for whoever writes one, and for its audit.

A kind adds its own. The sections of measured numbers have the keys that were measured.
"""

from collections.abc import Mapping
from typing import Any

Keys = Mapping[str, Any]  # by name: `OPEN`, `NUMBERS`, or the keys below
EACH = "*"  # stands for any name, such as that of a column
OPEN = None  # a text or a number, or a document that is compared elsewhere
NUMBERS = "numbers"  # any names, of stages or figures, each with a number

SOFTWARE = ("python", "numba", "numpy", "polars", "scipy")
# What an approval says of one person; `also` has those of others, where several must approve.
_DECISION: Keys = {
    **dict.fromkeys(("by", "note", "at", "identity", "authenticated", "in_place_of")),
    **dict.fromkeys(("requested_by", "question", "asked", "statement", "key", "signature")),
}
RELEASE_KEYS: Keys = {
    **dict.fromkeys(("crowdcover", "texts", "name", "version", "plan_sha256", "created")),
    "software": dict.fromkeys(SOFTWARE),
    "source": dict.fromkeys(("kind", "rows", "columns")),
    "columns": {EACH: {"role": OPEN}},
    "about": {
        **dict.fromkeys(("title", "publisher", "licence", "population", "as_of", "recipient")),
        **dict.fromkeys(("contact", "answers_until")),
    },
    "checks": dict.fromkeys(("measure", "about", "required", "found", "l")),
    "anonymizer": OPEN,
    "drift": {
        **dict.fromkeys(("compared_with", "utility_before")),
        "accepted": dict.fromkeys(("what", "limit", "note")),
    },
    "second_release": dict.fromkeys(("overlapping", "people", "below_k", "least_margin")),
    "approval": {"required": OPEN, **_DECISION, "also": _DECISION},
    **dict.fromkeys(("iterations", "timings"), NUMBERS),
    "peak_memory_bytes": OPEN,
    "files": OPEN,
}
# By section of measured numbers, what is stated beside them.
MEASURED_KEYS: Keys = {
    "privacy": {"promise": OPEN},
    **{name: {} for name in ("utility", "protection", "attacks")},
    "series": {"constant": OPEN, "allow_short_histories": OPEN, "versions": NUMBERS},
}


def list_manifest_keys(kind: Keys, measured: Keys) -> Keys:
    """All keys of a kind's manifests; a section that was not measured is open."""
    sections = {
        name: {**MEASURED_KEYS.get(name, {}), **dict.fromkeys(section)}
        for name, section in measured.items()
    }
    keys = {**RELEASE_KEYS, **sections}
    for name, below in kind.items():
        known = keys.get(name)
        keys[name] = {**known, **below} if isinstance(known, dict) else below
    return keys | dict.fromkeys(MEASURED_KEYS.keys() - sections.keys())


def count_unknown(document: Any, keys: Any) -> int:
    """Count what a document holds beside these keys; each entry of a list has the same keys."""
    if isinstance(document, list):
        return sum(count_unknown(each, keys) for each in document)
    if keys is OPEN:
        return 0
    if not isinstance(document, dict):
        return 1
    if keys == NUMBERS:
        return sum(not isinstance(each, int | float | None) for each in document.values())
    return sum(
        count_unknown(below, keys[name if name in keys else EACH])
        if name in keys or EACH in keys
        else 1
        for name, below in document.items()
    )
