"""Bar charts: information kept of each column, and success of attacks."""

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from crowdcover.kinds.table.report.attackers import Attack
from crowdcover.kinds.table.report.facts import ColumnKept
from crowdcover.reports import drawing
from crowdcover.reports.drawing import ACCENT, DANGER, GRID, INK, MUTED, SECOND
from crowdcover.reports.quantities import is_number, one_in, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLUMNS_PER_PLOT = 30
LABEL_ROOM = 10.2
LIMITS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def column_plots(columns: Sequence[ColumnKept]) -> list[str]:
    """Plot unmasked cells and information kept of each column, at most 30 columns per plot."""
    parts = -(-len(columns) // COLUMNS_PER_PLOT)
    # Plots of nearly equal length, not full ones and a short rest.
    bounds = [round(part * len(columns) / parts) for part in range(parts + 1)] if parts else [0]
    return [
        _column_plot(columns[first:last], f"plot-columns-{part}")
        for part, (first, last) in enumerate(pairwise(bounds), start=1)
    ]


@drawing.draw_or_leave_out
def attack_plot(attacks: Sequence[Attack]) -> str:
    """Plot how often each attack names the right row, with a mark for guessing."""
    highest = max(
        (rate for attack in attacks for rate in (attack.success, attack.guess) if is_number(rate)),
        default=0.0,
    )
    # The last limit is taken whatever the rate, so that there always is one.
    limit = next(limit for limit in LIMITS if highest <= limit or limit == 1.0)
    rows = 40 * len(attacks)
    with drawing.apply_style():
        figure = drawing.start_figure(rows + 66)
        axes = drawing.place_axes(figure, (132, 32, 148, rows))
        _empty_bars(axes, len(attacks), limit, "right row named; line: by guessing")
        for place, attack in enumerate(attacks):
            _attack_bar(axes, place, attack)
        rates = "; ".join(
            f"{attack.who}: {attack.rate}, by guessing {percent(attack.guess)}"
            for attack in attacks
        )
        return drawing.render_svg(
            figure, "plot-attacks", "Bar chart of how often attacks name the right row", f"{rates}."
        )


def _attack_bar(axes: "Axes", place: int, attack: Attack) -> None:
    beside = axes.get_yaxis_transform()
    # Without a guess to compare with, the bar says neither that it is fine nor that it is not.
    colour = DANGER if attack.is_above else ACCENT if attack.is_judged else MUTED
    # nan: an older manifest lacks the number, so there is no bar.
    axes.barh(place, np.nan_to_num(attack.success), color=colour, height=0.42)
    if is_number(attack.guess):
        axes.plot([attack.guess] * 2, [place - 0.34, place + 0.34], color=INK, linewidth=2.5)
    axes.text(
        -0.05, place, _cut_label(attack.who), ha="right", va="center_baseline", transform=beside
    )
    label = one_in(attack.success)
    axes.text(
        1.04,
        place,
        f"{label}: above" if attack.is_above else label,
        va="center_baseline",
        transform=beside,
        color=DANGER if attack.is_above else INK,
    )


@drawing.draw_or_leave_out
def _column_plot(columns: Sequence[ColumnKept], name: str) -> str:
    rows = 22 * len(columns)
    with drawing.apply_style():
        figure = drawing.start_figure(rows + 66)
        kept = drawing.place_axes(figure, (138, 32, 108, rows))
        exact = drawing.place_axes(figure, (270, 32, 108, rows))
        _share_bars(kept, [column.kept for column in columns], ACCENT, "information kept")
        _share_bars(exact, [column.exact for column in columns], SECOND, "unmasked cells")
        beside = kept.get_yaxis_transform()
        for place, column in enumerate(columns):
            kept.text(
                -0.06,
                place,
                _cut_label(column.name),
                ha="right",
                va="center_baseline",
                transform=beside,
            )
        shares = "; ".join(
            f"{c.name}: {percent(c.kept)} kept, {percent(c.exact)} unmasked" for c in columns
        )
        return drawing.render_svg(
            figure, name, "Bar chart of information kept and unmasked cells by column", f"{shares}."
        )


def _cut_label(name: str) -> str:
    """A label, cut to the room beside its bar; widths of letters are estimated in em."""
    room = 0.0
    for place, letter in enumerate(name):
        wide = unicodedata.east_asian_width(letter) in "WF" or letter in "mwMW@%"
        room += 1.0 if wide else 0.75 if letter.isupper() else 0.56
        if room > LABEL_ROOM:
            return name[: place - 1] + "\u2026"
    return name


def _share_bars(axes: "Axes", shares: Sequence[float], colour: str, label: str) -> None:
    _empty_bars(axes, len(shares), 1.0, label)
    drawing.draw_bars(axes, np.nan_to_num(shares).tolist(), color=colour)


def _empty_bars(axes: "Axes", number: int, limit: float, label: str) -> None:
    drawing.draw_bars(axes, [limit] * number, color=GRID, alpha=0.45)
    # The axis runs downwards: the first bar is on top.
    axes.set(xlim=(0, limit), ylim=(number - 0.5, -0.5), xticks=[0, limit], yticks=[])
    texts = axes.set_xticklabels([f"{100 * tick:g} %" for tick in (0, limit)])
    # The outer labels stay within the bars, clear of the neighbouring plot.
    texts[0].set_horizontalalignment("left")
    texts[-1].set_horizontalalignment("right")
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_title(label, loc="left", fontsize=12, fontweight="bold", pad=8)
