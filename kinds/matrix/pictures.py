"""Sections of the report page of a matrix: checks, attackers, classes, entries, rows."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from kinds.matrix import facts
from reports import drawing
from reports.drawing import ACCENT, DANGER, GRID, INK, SECOND
from reports.facts import Manifest
from reports.quantities import one_in, percent
from reports.templates import template
from reports.words import PageSection, Words

HEADINGS = {
    "checked": "How the release was checked",
    "attacks": "What attackers find who know some items",
    "classes": "How large the classes are",
    "kept": "How much of the data is left",
    "rows": "How to read a row",
}
EDGES = (1, 2, 3, 5, 10)  # of k: classes are counted between these multiples of the smallest k


def sections(manifest: Manifest, sizes: NDArray[np.int64], words: Words) -> list[PageSection]:
    """All sections in the order of the page; classes are counted in bins only."""
    macros: Any = template("sections.html.j2", Path(__file__).parent).module
    drawn = {
        "classes": class_plot(sizes, int(manifest["privacy"]["k_min"])),
        "entries": entry_plot(manifest),
        "attacks": attack_plot(facts.attacks(manifest)),
    }
    drawings = {name: Markup(svg) for name, svg in drawn.items()}  # noqa: S704 - drawn by us
    bodies = {
        "checked": macros.checked(manifest, words),
        "attacks": macros.attacks(manifest, facts, drawings),
        "classes": macros.classes(manifest, facts, drawings),
        "kept": macros.kept(manifest, facts, drawings),
        "rows": macros.rows(manifest),
    }
    return [PageSection(name, HEADINGS[name], body) for name, body in bodies.items()]


def class_plot(sizes: NDArray[np.int64], k: int) -> str:
    """Bars of how many users are in classes of each size, in multiples of the smallest k."""
    edges = np.array([*(k * times for times in EDGES), np.inf])
    users = [int(sizes[(sizes >= low) & (sizes < high)].sum()) for low, high in pairwise(edges)]
    names = [
        f"{low:.0f} to {high - 1:.0f}" if low < high - 1 else f"{low:.0f}"
        for low, high in pairwise(edges[:-1])
    ] + [f"{edges[-2]:.0f} or more"]
    shares = [number / max(1, sum(users)) for number in users]
    labels = [percent(share) for share in shares]
    title = "Bar chart of users by the size of their class"
    return _bars("plot-classes", title, names, shares, labels, [ACCENT] * len(users))


def entry_plot(manifest: Manifest) -> str:
    """Bars of the entries that are kept, missing and false, in entries of the source."""
    utility = manifest["utility"]
    parts = {
        "kept": 1 - utility["suppressed"],
        "missing": utility["suppressed"],
        "false, added": utility["created"],
    }
    labels = [percent(share) for share in parts.values()]
    title = "Bar chart of entries kept, missing and added"
    colours = [ACCENT, SECOND, DANGER]
    return _bars("plot-entries", title, list(parts), list(parts.values()), labels, colours)


def attack_plot(attacks: list[facts.Attack]) -> str:
    """Bars of the chance to find a row, by what the attacker knows; a mark for guessing."""
    names, chances = [a.name for a in attacks], [a.success for a in attacks]
    labels = [one_in(chance) for chance in chances]
    marks = [attack.guess for attack in attacks]
    title = "Bar chart of the chance to find a user's row"
    colours = [ACCENT if attack.above == 0 else DANGER for attack in attacks]
    return _bars("plot-attacks", title, names, chances, labels, colours, marks)


def _bars(
    name: str,
    title: str,
    names: list[str],
    values: list[float],
    labels: list[str],
    colours: list[str],
    marks: list[float] | None = None,
) -> str:
    limit = 1.0 if marks is None else max([*values, *marks, 1e-9]) * 1.02
    rows = 38 * len(names)
    with drawing.style():
        figure = drawing.figure(rows + 24)
        axes = drawing.axes(figure, (128, 12, 160, rows))
        drawing.bars(axes, [limit] * len(names), color=GRID, alpha=0.45)
        drawing.bars(axes, values, facecolors=colours)
        for place, mark in enumerate(marks or []):
            axes.plot([mark] * 2, [place - 0.34, place + 0.34], color=INK, linewidth=2.5)
        beside = axes.get_yaxis_transform()
        for place, (text, label) in enumerate(zip(names, labels, strict=True)):
            axes.text(-0.05, place, text, ha="right", va="center_baseline", transform=beside)
            axes.text(1.04, place, label, va="center_baseline", transform=beside)
        axes.set(xlim=(0, limit), ylim=(len(names) - 0.5, -0.5), xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        told = "; ".join(f"{text}: {label}" for text, label in zip(names, labels, strict=True))
        return drawing.svg(figure, name, title, f"{told}.")
