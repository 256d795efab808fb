"""The profile of a matrix that later runs are compared with: rows, items and entries."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anon_core.measures.requirements import is_at_most
from kinds.judge.drift import Changes, DriftLimits, Excess, build_excess

_COUNTED = ("items", "entries")


@dataclass(frozen=True, kw_only=True)
class MatrixDriftLimits(DriftLimits):
    """[checks] drift of a matrix."""

    items: float = 0.3
    entries: float = 0.3


@dataclass(frozen=True, kw_only=True)
class MatrixChanges(Changes):
    """A matrix compared with that of an earlier release; earlier and present counts."""

    counts: Mapping[str, tuple[int, int]]

    @property
    def claims(self) -> dict[str, Any]:
        """The manifest's drift section."""
        claims = {
            "compared_with": self.version,
            "rows_before": self.rows_before,
            "rows": self.rows,
            **{name: now for name, (_, now) in self.counts.items()},
            **{f"{name}_before": was for name, (was, _) in self.counts.items()},
        }
        return claims if self.utility is None else {**claims, "utility_before": self.utility[0]}

    def excesses(self, limits: DriftLimits) -> Iterator[Excess]:
        """Each change above its limit, with what accepts it."""
        # Rows are users. Columns and types are empty here, so of the rest only utility is compared.
        yield from super().excesses(limits)
        assert isinstance(limits, MatrixDriftLimits)
        allowed = {"items": limits.items, "entries": limits.entries}
        for name, (was, now) in self.counts.items():
            change = abs(now - was) / max(now, was, 1)
            if not is_at_most(change, allowed[name]):
                noun = f"there are {now} {name} instead of {was}, a difference of {change:.4f}"
                yield build_excess(noun, name, allowed[name])


def compare_profiles(
    version: str, before: Mapping[str, Any], now: Mapping[str, Any]
) -> MatrixChanges:
    """A matrix against what is remembered of the last one."""
    return MatrixChanges(
        version=version,
        rows_before=before["rows"],
        rows=now["rows"],
        counts={name: (before[name], now[name]) for name in _COUNTED},
    )
