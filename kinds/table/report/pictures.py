"""Sections of the report page of a table: checks, attacks, crowds, columns, cells."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup

from crowdcover.kinds.table.report import attackers, bars, crowd_plots, facts
from crowdcover.kinds.table.report import series_pictures as of_versions
from crowdcover.kinds.table.report.crowd_plots import CrowdCounts
from crowdcover.reports import series
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.pages.templates import load_template
from crowdcover.reports.words import PageSection, Words


class ExampleRow(NamedTuple):
    """An invented published row, and the column that contradicts the invented person, if any."""

    cells: Sequence[str]
    misfit: int | None


class Example(NamedTuple):
    """An invented person and invented rows; some of them fit the person."""

    columns: Sequence[str]
    person: Sequence[str]
    rows: Sequence[ExampleRow]


EXAMPLE = Example(
    ("age", "occupation", "region"),
    ("44", "Nurse", "North"),
    (
        ExampleRow(("40..49", "Nurse", "North"), None),
        ExampleRow(("44", "Nurse|Teacher", "*"), None),
        ExampleRow(("30..44", "Clerk|Nurse", "North"), None),
        ExampleRow(("40..49", "Teacher", "North"), 1),
        ExampleRow(("25..34", "Nurse", "*"), 0),
    ),
)


def build_page_sections(manifest: Manifest, crowds: CrowdCounts, words: Words) -> list[PageSection]:
    """All sections in the order of the page.

    Crowds are shown as shares and binned counts only, never the crowd of a single record.
    """
    macros: Any = load_template("sections.html.j2", Path(__file__).parent).module
    drawings = {
        name: [Markup(svg) for svg in svgs]  # noqa: S704 - drawn by this program
        for name, svgs in _draw_plots(manifest, crowds, words).items()
    }
    new = series.shortly_new(manifest)
    bodies = {
        **of_versions.build_series_section(manifest, macros),
        "checked": macros.checked(manifest, words, facts, new),
        "attacks": macros.attacks(manifest, attackers, drawings, new),
        "crowds": macros.crowds(drawings, new),
        "kept": macros.kept(manifest, facts, drawings, new),
        "cells": macros.cells(
            EXAMPLE,
            facts.shows_medians(manifest),
            facts.shows_nodes(manifest),
            facts.lists_values_of_trees(manifest),
            "series" in manifest,
        ),
    }
    headings = load_messages("crowdcover.kinds", "crowdcover.kinds.table").name_entries("sections")
    return [PageSection(name, headings[name], body) for name, body in bodies.items()]


def _draw_plots(manifest: Manifest, crowds: CrowdCounts, words: Words) -> dict[str, list[str]]:
    steps = manifest.get("iterations", [])
    attacks = attackers.attacks(manifest)
    kept = words.find_published_step(steps)
    curve = [] if kept is None or "utility" not in steps[kept] else [steps]
    return {
        "utility": [crowd_plots.utility_plot(each, kept or 0) for each in curve],
        "crowds": [crowd_plots.crowd_plot(crowds), crowd_plots.ratio_plot(crowds)],
        "columns": bars.column_plots(facts.columns(manifest)),
        "attacks": [bars.attack_plot(attacks)] if attacks else [],
    }
