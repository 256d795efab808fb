"""Sections of the report page of a matrix: checks, attackers, classes, entries, rows."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from crowdcover.kinds.bars import draw_labelled_bars
from crowdcover.kinds.matrix.report import facts
from crowdcover.reports.drawing import ACCENT, DANGER, SECOND
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.pages.templates import load_template
from crowdcover.reports.quantities import one_in, percent
from crowdcover.reports.words import PageSection, Words

_EDGES = (1, 2, 3, 5, 10)  # of k: classes are counted between these multiples of the smallest k


def build_page_sections(
    manifest: Manifest, sizes: NDArray[np.int64], words: Words
) -> list[PageSection]:
    """All sections in the order of the page; classes are counted in bins only."""
    macros: Any = load_template("sections.html.j2", Path(__file__).parent).module
    tried = facts.attacks(manifest)
    drawn = {
        "classes": class_plot(sizes, int(manifest["privacy"]["k_min"])),
        "entries": entry_plot(manifest),
        "attacks": _attack_plot(tried),
    }
    drawings = {name: Markup(svg) for name, svg in drawn.items()}  # noqa: S704 - drawn by us
    classes, attacks = words.protection(manifest)
    bodies = {
        "checked": macros.checked(manifest, words),
        "attacks": macros.attacks(manifest, attacks, tried, drawings),
        "classes": macros.classes(classes, drawings),
        "kept": macros.kept(words.utility(manifest)[0], drawings),
        "rows": macros.rows(manifest),
    }
    headings = load_messages("crowdcover.kinds", "crowdcover.kinds.matrix").name_entries("sections")
    return [PageSection(name, headings[name], body) for name, body in bodies.items()]


def class_plot(sizes: NDArray[np.int64], k: int) -> str:
    """Bars of how many users are in classes of each size, in multiples of the smallest k."""
    edges = np.array([*(k * times for times in _EDGES), np.inf])
    users = [int(sizes[(sizes >= low) & (sizes < high)].sum()) for low, high in pairwise(edges)]
    names = [
        # With inf in them the edges are floats, written here without a point.
        f"{low:.0f} to {high - 1:.0f}" if low < high - 1 else f"{low:.0f}"
        for low, high in pairwise(edges[:-1])
    ] + [f"{edges[-2]:.0f} or more"]
    shares = [number / max(1, sum(users)) for number in users]
    labels = [percent(share) for share in shares]
    title = "Bar chart of users by the size of their class"
    return draw_labelled_bars("plot-classes", title, names, shares, labels, [ACCENT] * len(users))


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
    return draw_labelled_bars(
        "plot-entries", title, list(parts), list(parts.values()), labels, colours
    )


def _attack_plot(attacks: list[facts.Attack]) -> str:
    """Bars of the chance to find a row, by what the attacker knows; a mark for guessing."""
    names, chances = [a.name for a in attacks], [a.success for a in attacks]
    labels = [one_in(chance) for chance in chances]
    marks = [attack.guess for attack in attacks]
    title = "Bar chart of the chance to find a user's row"
    colours = [ACCENT if attack.above == 0 else DANGER for attack in attacks]
    return draw_labelled_bars("plot-attacks", title, names, chances, labels, colours, marks)
