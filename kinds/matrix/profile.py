"""The profile of a matrix that later runs are compared with: rows, items and entries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crowdcover.kinds.judge.drift import CountedChanges, DriftLimits

_COUNTED = ("items", "entries")


@dataclass(frozen=True, kw_only=True)
class MatrixDriftLimits(DriftLimits):
    """[checks] drift of a matrix."""

    items: float = 0.3
    entries: float = 0.3


def compare_profiles(
    version: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> CountedChanges:
    """A matrix against what is remembered of the last one."""
    return CountedChanges(
        version=version,
        rows_before=before["rows"],
        rows=now["rows"],
        counts={name: (before[name], now[name]) for name in _COUNTED},
        limits_rows=True,  # rows are users
    )
