"""Charts of a release: utility by iteration, demanded and achieved crowds."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from crowdcover.reports import drawing
from crowdcover.reports.drawing import ACCENT, DANGER, GRID, INK, MUTED, SECOND, SURFACE
from crowdcover.reports.quantities import count, percent, utility

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_THRESHOLDS = 24
LOG_FROM = 4
DASHED, _DOTTED = (0, (4, 2)), (0, (1, 1.2))


class CrowdCounts(Protocol):
    """Counts of rows for each record, in any order: demanded, compatible and matchable."""

    @property
    def demanded(self) -> NDArray[np.integer[Any]]: ...

    @property
    def compatible(self) -> NDArray[np.integer[Any]]: ...

    @property
    def matchable(self) -> NDArray[np.integer[Any]]: ...


# ---------------------------------------------------------------- the plots


@drawing.draw_or_leave_out
def utility_plot(iterations: Sequence[Mapping[str, Any]], kept: int) -> str:
    """Plot utility by iteration; mark the published iteration."""
    numbers = range(1, len(iterations) + 1)
    bits = [entry["utility"] for entry in iterations]
    weighted = [entry.get("weighted_utility", entry["utility"]) for entry in iterations]
    # Draw the weighted utility only if it is a line that differs visibly from the other.
    two = (
        len(bits) > 1
        and max(abs(first - other) for first, other in zip(bits, weighted, strict=True)) > 5e-4
    )
    with drawing.apply_style():
        figure = drawing.start_figure(290)
        axes = drawing.place_axes(figure, (46, 48, 326, 210))
        if two:
            axes.plot(numbers, weighted, color=SECOND, linewidth=2, linestyle=DASHED)
        axes.plot(numbers, bits, color=ACCENT, linewidth=2.5)
        axes.plot(
            [kept + 1],
            [bits[kept]],
            "o",
            markersize=9,
            color=ACCENT,
            markeredgecolor=SURFACE,
            markeredgewidth=2,
        )
        _utility_axes(axes, len(iterations), min(bits + weighted), max(bits + weighted))
        lines = (("utility", ACCENT, "-"), ("weighted utility", SECOND, DASHED)) if two else ()
        _line_legend(figure, (*lines, (f"kept: {utility(bits[kept])}", ACCENT, "o")))
        course = f"Iteration 1 reached {utility(bits[0])}; "
        course += f"iteration {kept + 1} of {len(bits)}, which was kept, {utility(bits[kept])}."
        return drawing.render_svg(
            figure, "plot-utility", "Line chart of utility by iteration", course
        )


@drawing.draw_or_leave_out
def crowd_plot(crowds: CrowdCounts) -> str:
    """Plot, by crowd size, the share of people who demand and who have that many rows."""
    sizes = _choose_thresholds(crowds)
    demanded, matchable, compatible = (
        _share_at_least(rows, sizes)
        for rows in (crowds.demanded, crowds.matchable, crowds.compatible)
    )
    # Steps are exact if every size has a point; if sizes are skipped, a line is closer.
    stepped = len(sizes) == sizes[-1] - sizes[0] + 1
    way = "steps-pre" if stepped else "default"
    # With the same k for everyone the demand falls in one step.
    uniform = bool(crowds.demanded.min() == crowds.demanded.max())
    below = np.where(sizes >= crowds.demanded.max(), 0, demanded) if uniform else demanded
    differ = bool(np.abs(matchable - compatible).max() > 0.005)
    with drawing.apply_style():
        figure = drawing.start_figure(300)
        axes = drawing.place_axes(figure, (52, 48, 316, 216))
        axes.fill_between(
            sizes, below, matchable, where=matchable >= demanded, step="pre" if stepped else None,
            color=ACCENT, alpha=0.14, linewidth=0,
        )  # fmt: skip
        axes.plot(
            sizes,
            demanded,
            drawstyle="steps-pre" if uniform else way,
            color=MUTED,
            linewidth=2,
            linestyle=DASHED,
        )
        if differ:
            axes.plot(
                sizes, compatible, drawstyle=way, color=SECOND, linewidth=2, linestyle=_DOTTED
            )
        axes.plot(sizes, matchable, drawstyle=way, color=ACCENT, linewidth=2.5)
        _crowd_axes(axes, sizes)
        lines = [("demanded", MUTED, DASHED), ("achieved (matchable)", ACCENT, "-")]
        _line_legend(figure, (*lines, ("rows that fit", SECOND, _DOTTED)) if differ else lines)
        sentences = [
            "Share of people for whom at least so many rows are demanded, or who have them."
        ]
        for place in np.unique(np.linspace(0, len(sizes) - 1, 5).astype(int)):
            shares = f"{percent(demanded[place])} demanded, {percent(matchable[place])} have"
            sentences.append(f"{count(int(sizes[place]))} rows: {shares}.")
        return drawing.render_svg(
            figure, "plot-crowds", "Line chart of crowds demanded and achieved", " ".join(sentences)
        )


@drawing.draw_or_leave_out
def ratio_plot(crowds: CrowdCounts) -> str:
    """Plot the number of people by the ratio of achieved to demanded crowd."""
    groups = _ratio_groups(crowds)
    people = len(crowds.demanded)
    longest = max(number for _, number in groups)
    with drawing.apply_style():
        figure = drawing.start_figure(300)
        axes = drawing.place_axes(figure, (146, 10, 104, 280))
        _strip_axes(axes)
        for place, (label, number) in enumerate(groups):
            colour = DANGER if place == 0 else ACCENT
            axes.barh(
                place, max(number / longest, 0.008), color=colour if number else GRID, height=0.56
            )
            emphasis = INK if place or not number else DANGER
            axes.text(-0.05, place, label, ha="right", va="center_baseline", color=emphasis)
            text = f"{count(number)} ({percent(number / people)})" if number else "nobody"
            axes.text(
                number / longest + 0.04,
                place,
                text,
                va="center_baseline",
                color=emphasis if number else MUTED,
            )
        axes.set(xlim=(0, 1), ylim=(len(groups) - 0.5, -0.5))
        counts = "; ".join(f"{label}: {count(number)} people" for label, number in groups)
        return drawing.render_svg(
            figure,
            "plot-ratio",
            "Bar chart of people by achieved over demanded crowd",
            f"{counts}.",
        )


# ---------------------------------------------------------------- what is counted


def _choose_thresholds(crowds: CrowdCounts) -> NDArray[np.int64]:
    """A few crowd sizes, even on a log scale; too few to read a single person's crowd."""
    low = max(1, int(min(crowds.demanded.min(), crowds.matchable.min())))
    high = max(
        int(max(crowds.demanded.max(), crowds.compatible.max(), crowds.matchable.max())), low + 1
    )
    # On a linear axis, start before the first fall; a log axis has room anyway.
    low -= high < LOG_FROM * (low - 1)
    number = max(4, min(MOST_THRESHOLDS, len(crowds.demanded) // 5))
    spread = np.unique(np.geomspace(low, high, number).round().astype(np.int64))
    # Add the ends of the demand, which the plan states: else the curve would slant there.
    ends = np.array(
        [crowds.demanded.min(), crowds.demanded.max(), crowds.demanded.max() + 1], dtype=np.int64
    )
    return np.union1d(spread, ends[ends <= high])


def _share_at_least(
    rows: NDArray[np.integer[Any]], sizes: NDArray[np.int64]
) -> NDArray[np.float64]:
    # side="left": a crowd of exactly this size counts.
    return 1 - np.searchsorted(np.sort(rows), sizes, side="left") / len(rows)


def _ratio_groups(crowds: CrowdCounts) -> list[tuple[str, int]]:
    ratio = crowds.matchable / np.maximum(crowds.demanded, 1)
    labels = ["fewer than demanded", "exactly as demanded"]
    labels += [
        "up to 1.5 times",
        "1.5 to 2 times",
        "2 to 5 times",
        "5 to 10 times",
        "over 10 times",
    ]
    # A group includes its upper end: 1 is "exactly", 2 is "1.5 to 2".
    group = np.searchsorted([1 - 1e-12, 1, 1.5, 2, 5, 10], ratio, side="left")
    return list(zip(labels, np.bincount(group, minlength=len(labels)).tolist(), strict=True))


# ---------------------------------------------------------------- marks and axes


def _strip_axes(axes: "Axes") -> None:
    axes.set(xticks=[], yticks=[])
    axes.spines[:].set_visible(False)


def _utility_axes(axes: "Axes", iterations: int, lowest: float, highest: float) -> None:
    from matplotlib.ticker import FormatStrFormatter, MaxNLocator

    room = max(highest - lowest, 0.04)
    axes.set_ylim(max(0.0, lowest - 0.3 * room), highest + 0.3 * room)
    margin = max(0.25, 0.04 * (iterations - 1))
    axes.set_xlim(1 - margin, iterations + margin)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, min_n_ticks=1))
    axes.set_xticks(
        [tick for tick in axes.get_xticks() if 1 <= tick <= iterations and tick == int(tick)]
    )
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5))
    axes.set_yticks([tick for tick in axes.get_yticks() if tick <= 1])
    axes.yaxis.set_major_formatter(FormatStrFormatter("%.2f" if room >= 0.08 else "%.3f"))
    axes.set_xlabel("iteration")
    axes.grid(axis="y")
    axes.tick_params(length=0)


def _crowd_axes(axes: "Axes", sizes: NDArray[np.int64]) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator, PercentFormatter

    if sizes[-1] >= LOG_FROM * sizes[0]:
        axes.set_xscale("log")
        decades = np.log10(sizes[-1] / sizes[0])
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 3 else (1,)))
        axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value:,.0f}" if value == int(value) else "")
    )
    axes.yaxis.set_major_formatter(PercentFormatter(1, decimals=0, symbol=" %"))
    axes.set(xlim=(sizes[0], sizes[-1]), ylim=(0, 1.02), yticks=[0, 0.25, 0.5, 0.75, 1])
    axes.set_xlabel("crowd of at least this many rows")
    axes.grid(axis="y")
    # The first size and 0 % share a corner.
    axes.tick_params(length=0, pad=8)


def _line_legend(figure: "Figure", lines: Sequence[tuple[str, str, Any]]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, linestyle="", marker=way, markersize=8)
        if way == "o"
        else Line2D([], [], color=colour, linestyle=way, linewidth=2.5)
        for _, colour, way in lines
    ]
    labels = [label for label, _, _ in lines]
    figure.legend(
        handles, labels, loc="upper left", bbox_to_anchor=(0, 1), ncols=len(lines), frameon=False,
        handlelength=1.6, handletextpad=0.4, columnspacing=1, borderaxespad=0, borderpad=0.1,
    )  # fmt: skip
