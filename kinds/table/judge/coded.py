"""The quasi-identifiers of a published table as its codebook describes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import Any

from anon_core.measures.table.codebook.native import CellBounds, group_bounds, value_bounds
from crowdcover.kinds.table.forms import COUNTED

OPEN_ENDS = (-inf, inf)


@dataclass(frozen=True)
class Coded:
    """A quasi-identifier as the codebook describes it; see `anon_core.measures.table.cells`.

    Attributes
    ----------
    spans : tuple of (float, float, bool)
        Of numbers and dates: ends of each level, and whether the low one is excluded. The first is
        that of the missing level, if there is one.
    groups : bool
        Whether levels are groups of numbers.
    nodes : tuple of (str, int, int), optional
    sets : bool
        See `ColumnLevels`.
    """

    name: str
    kind: str
    labels: tuple[str, ...]
    has_missing: bool
    has_other: bool
    ordinal: bool
    hide_missing: bool
    spans: tuple[tuple[float, float, bool], ...]
    groups: bool = False
    nodes: tuple[tuple[str, int, int], ...] | None = None
    sets: bool = False

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> "Coded":
        """Read an entry of the codebook."""
        missing = bool(entry["has_missing"])
        counted = entry["kind"] in COUNTED
        return cls(
            entry["name"],
            entry["kind"],
            tuple(entry["labels"]),
            missing,
            bool(entry.get("has_other")),
            entry["encoding"] == "ordinal",
            bool(entry.get("hide_missing")),
            tuple(_list_spans(entry, missing)) if counted else (),
            counted and "values" not in entry,
            tuple((node["name"], *node["levels"]) for node in entry["nodes"])
            if "nodes" in entry
            else None,
            bool(entry.get("sets")),
        )

    @property
    def categories(self) -> set[str]:
        """The named categories."""
        return set(self.labels[int(self.has_missing) : len(self.labels) - self.has_other])

    def bounds(self, *, whole: bool) -> list[CellBounds]:
        """Bounds of the levels in data.parquet, from edges and values.

        What the codebook states as bounds is not used.
        """
        spans = self.spans[int(self.has_missing) : len(self.labels)]
        if self.groups:
            # The last group ends at infinity, which is no inner edge.
            edges = [high for _, high, _ in spans[:-1]]
            return group_bounds(edges, whole=whole) if spans else []
        return value_bounds([(low, high) for low, high, _ in spans], whole=whole)


def _list_spans(entry: Mapping[str, Any], missing: bool) -> Sequence[tuple[float, float, bool]]:
    # A missing value counts as -inf, as in `Spans`.
    first = [(-inf, -inf, False)] if missing else []
    if entry["inner_edges"] or "values" not in entry:
        edges = [-inf, *entry["inner_edges"], inf]
        # A group holds its upper edge, not its lower one.
        return [*first, *((low, high, True) for low, high in pairwise(edges))]
    return [*first, *(_read_value_span(value) for value in entry["values"])]


def _read_value_span(value: Any) -> tuple[float, float, bool]:
    if isinstance(value, list):
        # None is an open end on its own side: -inf below, inf above.
        low, high = (
            side if side is not None else end for side, end in zip(value, OPEN_ENDS, strict=True)
        )
        return float(low), float(high), False
    return float(value), float(value), False
