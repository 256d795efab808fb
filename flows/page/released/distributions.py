"""How often each value of a column occurs, in the release and, where it is known, in the source."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from markupsafe import Markup
from numpy.typing import NDArray

from crowdcover.flows.page.source_values import MOST_BARS
from crowdcover.kinds.bars import draw_labelled_bars
from crowdcover.reader.coded.levels import Levels
from crowdcover.reader.release import Release
from crowdcover.reports.drawing import ACCENT, MUTED
from crowdcover.reports.quantities import percent

_OTHER = "all other values"
_LONGEST = 16  # letters of a name beside its bar
Numbers = NDArray[np.float64]


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
    levels, expected = release.column(name).levels, release.frequencies(name)["expected"].to_numpy()
    counted = None if source is None else _count_levels(levels, source)
    groups = _group_levels(levels, expected)
    sides = [
        np.array([side[group].sum() for _, group in groups]) / max(float(side.sum()), 1e-9)
        for side in (expected, counted)
        if side is not None
    ]
    names = [label for label, _ in groups]
    # The longest bar of both charts is as long as its room.
    longest = max(float(np.max(sides)), 1e-9)
    pictures = [
        _draw_shares(side, which, name, (names, longest))
        for side, which in zip(sides, ("release", "source"), strict=False)
    ]
    shown = [[percent(share) for share in side] for side in sides]
    return Distribution(names, shown[0], shown[1] if len(shown) > 1 else (), pictures)


def _group_levels(levels: Levels, expected: Numbers) -> list[tuple[str, list[int]]]:
    """Labels, and the levels that each stands for."""
    labels = list(levels.texts)
    if len(labels) <= MOST_BARS:
        return [(label, [place]) for place, label in enumerate(labels)]
    if not levels.is_counted:
        common = np.argsort(-expected, kind="stable")
        first, rest = common[: MOST_BARS - 1].tolist(), common[MOST_BARS - 1 :].tolist()
        return [*((labels[place], [place]) for place in first), (_OTHER, rest)]
    given = np.flatnonzero(~levels.missing).tolist()
    # Neighbouring levels with nearly equal numbers of rows, so that no bar is empty.
    reached = np.cumsum(expected[given])
    ends = np.searchsorted(reached, np.linspace(0, reached[-1], MOST_BARS), side="left") + 1
    bounds = sorted({0, len(given), *ends[1:-1].tolist()})
    groups = [
        (_join_intervals(labels[given[low]], labels[given[high - 1]]), given[low:high])
        for low, high in pairwise(bounds)
    ]
    missing = np.flatnonzero(levels.missing).tolist()
    return [*((labels[place], [place]) for place in missing), *groups]


def _join_intervals(low: str, high: str) -> str:
    """From the low end of one interval to the high end of another."""
    first, last = low.partition(".."), high.rpartition("..")
    return low if low == high else f"{first[0]}..{last[2]}"


def _count_levels(levels: Levels, source: pl.Series) -> Numbers:
    """How many values of the source belong to each level; those of no level count for none."""
    counts, values = np.zeros(len(levels)), source.drop_nulls()
    counts[levels.missing] = len(source) - len(values)
    if not levels.is_counted:
        places = {label: place for place, label in enumerate(levels.texts)}
        other = next(iter(levels.others), None)
        for value, number in values.cast(pl.String).alias("").value_counts(name="n").iter_rows():
            if (place := places.get(value, other)) is not None:
                counts[place] += number
        return counts
    given = np.flatnonzero(~levels.missing)
    if isinstance(values.dtype, pl.Datetime):
        values = values.dt.date()  # levels are days
    # Levels ascend and share no value: a value is of the last one that begins there or below.
    begins = np.where(levels.above, np.nextafter(levels.lo, np.inf), levels.lo)[given]
    found = values.to_physical().cast(pl.Float64).to_numpy()
    places_of = np.clip(np.searchsorted(begins, found, side="right") - 1, 0, None)
    counts[given] = np.bincount(places_of, minlength=len(given))
    return counts


def _draw_shares(
    shares: Numbers, which: str, column: str, room: tuple[Sequence[str], float]
) -> Markup:
    names, longest = room
    svg = draw_labelled_bars(
        f"column-{which}",
        f"Bar chart of the values of {column} in the {which}",
        [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}\u2026" for name in names],
        (shares / longest).tolist(),
        [percent(share) for share in shares],
        [ACCENT if which == "release" else MUTED] * len(names),
    )
    return Markup(svg)  # noqa: S704 - drawn by this program
