"""Sections of the report page of a graph: checks, attackers, hiding, degrees, edges."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from crowdcover.kinds.bars import draw_labelled_bars
from crowdcover.kinds.graph.report import facts
from crowdcover.reports import drawing
from crowdcover.reports.drawing import ACCENT, DANGER, INK, SECOND
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.pages.templates import load_template
from crowdcover.reports.quantities import one_in, percent, points
from crowdcover.reports.words import PageSection, Words

LEVELS = (0, 1, 2, 3, 5)  # of k: vertices are counted between these multiples of their own k
_STEPS = (1, 2, 3, 5, 7, 10, 15)  # degrees at which a bin may begin, then ten times these


def build_page_sections(
    manifest: Manifest, measured: Mapping[str, NDArray[Any]], words: Words
) -> list[PageSection]:
    """All sections in the order of the page; vertices are counted in bins only."""
    macros: Any = load_template("sections.html.j2", Path(__file__).parent).module
    k = int(manifest["privacy"]["k_max"])
    drawn = {
        "hiding": level_plot(measured["levels"]),
        "degrees": degree_plot(measured["before"], measured["after"], k),
        "attacks": _attack_plot(facts.attacks(manifest)),
        "hops": hop_plot(facts.list_hop_discrepancies(manifest)),
    }
    drawings = {name: Markup(svg) for name, svg in drawn.items()}  # noqa: S704 - drawn by us
    hiding, attacks = words.protection(manifest)
    bodies = {
        "checked": macros.checked(manifest, words),
        "hiding": macros.hiding(manifest, hiding, drawings),
        "attacks": macros.attacks(manifest, attacks, drawings),
        "kept": macros.kept(manifest, words.utility(manifest), drawings),
        "edges": macros.edges(),
    }
    headings = load_messages("crowdcover.kinds", "crowdcover.kinds.graph").name_entries("sections")
    return [PageSection(name, headings[name], body) for name, body in bodies.items()]


def level_plot(levels: NDArray[np.float64]) -> str:
    """Bars of how many vertices hide among so many times their own k.

    `levels` are 2^H / k, and below 1 exactly where the audit counts a vertex as below its k.
    """
    edges = np.array([*LEVELS, np.inf])
    held = [
        int(np.count_nonzero((levels >= low) & (levels < high))) for low, high in pairwise(edges)
    ]
    names = ["fewer than k", *(f"{low} to {high} k" for low, high in pairwise(LEVELS[1:]))]
    names.append(f"over {LEVELS[-1]} k")
    shares = [number / max(1, len(levels)) for number in held]
    labels = [percent(share) for share in shares]
    colours = [DANGER] + [ACCENT] * (len(held) - 1)
    title = "Bar chart of vertices by the number that they hide among"
    return draw_labelled_bars("plot-hiding", title, names, shares, labels, colours)


def _attack_plot(attacks: Sequence[facts.Attack]) -> str:
    """Bars of how often the best guess is right, by what is known; a mark for guessing."""
    names = [_SHORT.get(attack.name, "edges dropped") for attack in attacks]
    chances = [attack.success for attack in attacks]
    labels = [one_in(chance) for chance in chances]
    marks = [attack.guess for attack in attacks]
    title = "Bar chart of the chance that the best guess is right"
    colours = [ACCENT if attack.success <= attack.guess else DANGER for attack in attacks]
    return draw_labelled_bars("plot-attacks", title, names, chances, labels, colours, marks)


def hop_plot(hops: Mapping[str, float]) -> str:
    """Bars of the change of the chance to be connected, by distance in the source."""
    found = list(hops.values())
    labels = [f"{points(each)} points" for each in found]
    title = "Bar chart of the change of the chance to be connected, by distance"
    colours = [ACCENT] * len(found)
    return draw_labelled_bars("plot-hops", title, list(hops), found, labels, colours)


_SHORT = {
    "the expected degree": "expected degree",
    "the likeliest degree": "likeliest degree",
    "the chance of each degree": "each degree",
}


# ---------------------------------------------------------------- degrees before and after


def choose_degree_bins(before: NDArray[np.float64], least: int) -> list[int]:
    """First degree of each bin: round numbers, so far apart that each bin has `least` vertices.

    `before` is the expected number of vertices of each degree in the source. The last bin has no
    end, so that no bin tells of a single vertex of great degree.
    """
    rounds = [0, *(step * 10**power for power in range(8) for step in _STEPS)]
    rounds = sorted({each for each in rounds if each < len(before)})
    starts = [0]
    for start in rounds[1:]:
        # Both the bin that ends here and all that is left must be full: so the last bin is.
        full = before[starts[-1] : start].sum() >= least
        if full and before[start:].sum() >= least:
            starts.append(start)
    return starts


@drawing.draw_or_leave_out
def degree_plot(before: NDArray[np.float64], after: NDArray[np.float64], least: int) -> str:
    """Two bars a bin: the expected share of vertices with such a degree, source and release."""
    starts = choose_degree_bins(before, least)
    ends = [*starts[1:], max(len(before), len(after))]
    names = [
        f"{low} or more"
        if place == len(starts) - 1
        else (f"{low}" if high == low + 1 else f"{low} to {high - 1}")
        for place, (low, high) in enumerate(zip(starts, ends, strict=True))
    ]
    pairs = [
        tuple(float(each[low:high].sum() / each.sum()) for each in (before, after))
        for low, high in zip(starts, ends, strict=True)
    ]
    return _draw_bar_pairs(names, pairs)


def _draw_bar_pairs(names: Sequence[str], pairs: Sequence[tuple[float, ...]]) -> str:
    limit = max(max(pair) for pair in pairs) * 1.02
    rows = 46 * len(names)
    with drawing.apply_style():
        figure = drawing.start_figure(rows + 48)
        axes = drawing.place_axes(figure, (96, 36, 210, rows))
        for place, (name, pair) in enumerate(zip(names, pairs, strict=True)):
            # x as a share of the axes, y in bars: labels stand clear of the longest bar.
            beside = axes.get_yaxis_transform()
            axes.text(-0.04, place, name, ha="right", va="center_baseline", transform=beside)
            for share, shift, colour in zip(pair, (-0.2, 0.2), (SECOND, ACCENT), strict=True):
                axes.barh(place + shift, share, height=0.34, color=colour)
                label = percent(share)
                axes.text(
                    1.03, place + shift, label, va="center_baseline", transform=beside, fontsize=11
                )
        axes.set(xlim=(0, limit), ylim=(len(names) - 0.5, -0.5), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        figure.text(0.25, 0.03, "upper bar: source; lower bar: release", color=INK, fontsize=11)
        description = "; ".join(
            f"{name} edges: {percent(pair[0])} before, {percent(pair[1])} after"
            for name, pair in zip(names, pairs, strict=True)
        )
        title = "Bar chart of vertices by their number of edges, before and after"
        return drawing.render_svg(figure, "plot-degrees", title, f"{description}.")
