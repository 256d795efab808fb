"""How often each value of a column occurs, in the release and, where it is known, in the source."""

import datetime
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from markupsafe import Markup

from crowdcover.kinds.bars import draw_labelled_bars
from crowdcover.reader.release import Release
from crowdcover.reports.drawing import ACCENT, MUTED
from crowdcover.reports.quantities import percent

MOST_BARS = 12
_MISSING, _OTHER = "(missing)", "all other values"
_LONGEST = 16  # letters of a name beside its bar


class Distribution(NamedTuple):
    """Shares of rows by value, in per cent, and a bar chart of each side.

    `source` is empty where the source is not known.
    """

    names: Sequence[str]
    released: Sequence[str]
    source: Sequence[str]
    pictures: Sequence[Markup]


def describe_column(release: Release, name: str, source: pl.Series | None) -> Distribution:
    """A column by its commonest values, or by intervals where it holds many numbers."""
    levels, rows = release.levels(name), release.frequencies(name)
    expected = rows["expected"].to_numpy()
    counted = None if source is None else _count_levels(levels, source)
    groups = _group_levels(levels, expected)
    sides = [
        np.array([side[group].sum() for _, group in groups]) / max(float(side.sum()), 1e-9)
        for side in (expected, counted)
        if side is not None
    ]
    names = [label for label, _ in groups]
    pictures = [
        _draw(side, which, name, names) for side, which in zip(sides, ("release", "source"), strict=False)
    ]
    shown = [[percent(share) for share in side] for side in sides]
    return Distribution(names, shown[0], shown[1] if len(shown) > 1 else (), pictures)


def _group_levels(
    levels: pl.DataFrame, expected: np.ndarray[Any, Any]
) -> list[tuple[str, list[int]]]:
    """Labels, and the levels that each stands for."""
    labels = levels["level"].to_list()
    if len(labels) <= MOST_BARS:
        return [(label, [place]) for place, label in enumerate(labels)]
    if "lo" not in levels.columns:
        common = np.argsort(-expected, kind="stable")
        first, rest = common[: MOST_BARS - 1].tolist(), common[MOST_BARS - 1 :].tolist()
        return [*((labels[place], [place]) for place in first), (_OTHER, rest)]
    given = [place for place, label in enumerate(labels) if label != _MISSING]
    # Neighbouring levels with nearly equal numbers of rows, so that no bar is empty.
    reached = np.cumsum(expected[given])
    ends = np.searchsorted(reached, np.linspace(0, reached[-1], MOST_BARS), side="left") + 1
    bounds = sorted({0, len(given), *ends[1:-1].tolist()})
    groups = [
        (_span(labels[given[low]], labels[given[high - 1]]), given[low:high])
        for low, high in pairwise(bounds)
    ]
    missing = [place for place in range(len(labels)) if place not in set(given)]
    return [*([(_MISSING, missing)] if missing else []), *groups]


def _span(low: str, high: str) -> str:
    """From the low end of one interval to the high end of another."""
    return low if low == high else f"{low.split('..')[0]}..{high.split('..')[-1]}"


def _count_levels(levels: pl.DataFrame, source: pl.Series) -> np.ndarray[Any, Any]:
    """How many values of the source belong to each level; those of no level count for none."""
    labels = levels["level"].to_list()
    counts = np.zeros(len(labels))
    values = source.drop_nulls()
    if _MISSING in labels:
        counts[labels.index(_MISSING)] = len(source) - len(values)
    if "lo" not in levels.columns:
        places = {label: place for place, label in enumerate(labels)}
        other = places.get("(other)")
        for value, number in values.cast(pl.String).alias("v").value_counts().iter_rows():
            if (place := places.get(value, other)) is not None:
                counts[place] += number
        return counts
    given = [place for place, label in enumerate(labels) if label != _MISSING]
    low = np.array([_to_number(levels["lo"][place], -np.inf) for place in given])
    found = values.to_physical().cast(pl.Float64).to_numpy()
    # The last level that begins at the value or below: levels ascend and share no value.
    places = np.clip(np.searchsorted(low, found, side="right") - 1, 0, None)
    counts[given] = np.bincount(places, minlength=len(given))
    return counts


def _to_number(value: Any, default: float) -> float:
    if isinstance(value, datetime.date):
        return float((value - datetime.date(1970, 1, 1)).days)
    return default if value is None else float(value)


def _draw(shares: np.ndarray[Any, Any], which: str, column: str, names: Sequence[str]) -> Markup:
    svg = draw_labelled_bars(
        f"column-{which}",
        f"Bar chart of the values of {column} in the {which}",
        [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}\u2026" for name in names],
        shares.tolist(),
        [percent(share) for share in shares],
        [ACCENT if which == "release" else MUTED] * len(names),
    )
    return Markup(svg)  # noqa: S704 - drawn by this program
