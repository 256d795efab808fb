"""A rehearsed release in words."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from reports.quantities import count, size

NAMES = {
    "rows": "rows of the source",
    "columns": "columns of the source",
    "records": "records that stay",
    "attributes": "quasi-identifiers",
    "features": "bits a record",
    "entries": "entries",
    "edges": "edges",
}
WIDTH = 24


def list_rehearsal_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """What a release would do, its counts, what it needs, and the role of each column."""
    yield f"{document['outcome']}; nothing was published, nothing was stored"
    counts = document["counts"]
    for name, label in NAMES.items():
        if name in counts:
            yield _format_fact(label, count(int(counts[name])))
    if counts:
        low, high = count(counts["k_min"]), count(counts["k_max"])
        yield _format_fact("demanded k", low if low == high else f"{low} to {high}")
    for note in document["notes"]:
        yield _format_fact("note", note)
    if memory := document["memory"]:
        needed, allowed = size(memory["anonymizer"]), size(memory["allowed"])
        yield _format_fact(
            "memory, anonymizer", f"{needed} at most; compute.memory allows {allowed}"
        )
    yield from _list_estimates(document["estimate"])
    roles = defaultdict(list)
    for name, stated in document["columns"].items():
        roles[stated["role"]].append(name)
    for role, names in roles.items():
        yield _format_fact(role, ", ".join(names))


def _list_estimates(estimate: Mapping[str, Any] | None) -> Iterator[str]:
    if estimate is None:
        return
    low, high = estimate["seconds_range"]
    used, threads = _format_time(estimate["processor_seconds"]), estimate["threads"]
    told = (
        f"{_format_time(low)} to {_format_time(high)}: {used} of processor time, {threads} threads"
    )
    yield _format_fact("time, estimated", told)
    yield _format_fact("memory, estimated", f"{size(estimate['bytes'])} of the whole process")
    yield _format_fact("", estimate["basis"])


def _format_fact(label: str, words: str) -> str:
    return f"  {label:<{WIDTH}}{words}"


def _format_time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
