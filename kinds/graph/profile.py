"""The profile of a graph that later runs are compared with: vertices and edges."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from anon_core.measures.requirements import is_at_most
from kinds.judge.drift import Changes, DriftLimits, Excess, build_excess

_ALL = 1.0  # allows every change
_COUNTED = {"vertices": "rows", "edges": "edges", "expected_edges": "expected"}


@dataclass(frozen=True, kw_only=True)
class GraphDriftLimits(DriftLimits):
    """[checks] drift of a graph."""

    vertices: float = 0.3
    edges: float = 0.3
    expected_edges: float = 0.3


@dataclass(frozen=True, kw_only=True)
class GraphChanges(Changes):
    """A graph compared with that of an earlier release; earlier and present counts."""

    counts: Mapping[str, tuple[int, int]]

    @property
    def claims(self) -> dict[str, Any]:
        """The manifest's drift section."""
        claims = {
            "compared_with": self.version,
            **{name: now for name, (_, now) in self.counts.items()},
            **{f"{name}_before": was for name, (was, _) in self.counts.items()},
        }
        return claims if self.utility is None else {**claims, "utility_before": self.utility[0]}

    def excesses(self, limits: DriftLimits) -> Iterator[Excess]:
        """Each change above its limit, with what accepts it."""
        # Vertices are the rows. Their own limit stands below, so that of rows must not refuse.
        yield from super().excesses(replace(limits, rows=_ALL))
        for name, (was, now) in self.counts.items():
            change = abs(now - was) / max(now, was, 1)  # expected edges may round to 0 in both
            allowed = getattr(limits, name)
            if not is_at_most(change, allowed):
                noun = name.replace("_", " ")
                text = f"there are {now} {noun} instead of {was}, a difference of {change:.4f}"
                yield build_excess(text, name, allowed)


def compare_profiles(
    version: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> GraphChanges:
    """A graph against what is remembered of the last one."""
    return GraphChanges(
        version=version,
        rows_before=before["rows"],
        rows=now["rows"],
        counts={name: (before[key], now[key]) for name, key in _COUNTED.items()},
    )
