"""The profile of a graph that later runs are compared with: vertices and edges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crowdcover.kinds.judge.drift import CountedChanges, DriftLimits

_COUNTED = {"vertices": "rows", "edges": "edges", "expected_edges": "expected"}


@dataclass(frozen=True, kw_only=True)
class GraphDriftLimits(DriftLimits):
    """[checks] drift of a graph."""

    vertices: float = 0.3
    edges: float = 0.3
    expected_edges: float = 0.3


def compare_profiles(
    version: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> CountedChanges:
    """A graph against what is remembered of the last one."""
    return CountedChanges(
        version=version,
        rows_before=before["rows"],
        rows=now["rows"],
        counts={name: (before[key], now[key]) for name, key in _COUNTED.items()},
        limits_rows=False,  # vertices are the rows, and have a limit of that name
    )
