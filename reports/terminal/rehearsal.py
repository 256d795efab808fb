"""A rehearsed release in words."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import count

_MESSAGES = load_messages("crowdcover.reports")
_WIDTH = 24


def list_rehearsal_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """What a release would do, its counts, what it needs, and the role of each column."""
    yield _say("outcome", outcome=document["outcome"])
    counts = document["counts"]
    for name, label in _MESSAGES.name_entries("rehearsal_counts").items():
        if name in counts:
            yield _format_fact(label, count(int(counts[name])))
    if counts:
        low, high = count(counts["k_min"]), count(counts["k_max"])
        yield _format_fact(_say("k"), low if low == high else f"{low} to {high}")
    for note in document["notes"]:
        yield _format_fact(_say("note"), note)
    if memory := document["memory"]:
        needed = _say("memory_needed", needed=memory["anonymizer"], allowed=memory["allowed"])
        yield _format_fact(_say("memory"), needed)
    yield from _list_estimates(document["estimate"])
    roles = defaultdict(list)
    for name, stated in document["columns"].items():
        roles[stated["role"]].append(name)
    for role, names in roles.items():
        yield _format_fact(role, ", ".join(names))


def _list_estimates(estimate: Mapping[str, Any] | None) -> Iterator[str]:
    if estimate is None:
        return
    low, high = map(_format_time, estimate["seconds_range"])
    used = _format_time(estimate["processor_seconds"])
    times = {"low": low, "high": high, "used": used, "threads": estimate["threads"]}
    yield _format_fact(_say("time"), _say("time_range", **times))
    yield _format_fact(_say("bytes"), _say("bytes_needed", bytes=estimate["bytes"]))
    yield _format_fact("", estimate["basis"])


def _say(name: str, **figures: Any) -> str:
    return _MESSAGES.say("rehearsal", name, **figures)


def _format_fact(label: str, words: str) -> str:
    return f"  {label:<{_WIDTH}}{words}"


def _format_time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
