"""report.html: the release for a reader who never saw the code, in one file that loads nothing from elsewhere."""

from collections.abc import Sequence
from typing import NamedTuple

from reports import attackers, bars, facts, history, notices, plots, promises, summary
from reports.facts import Fact, Manifest
from reports.plots import Crowds
from reports.quantities import count, one_in, percent
from reports.templates import template


class ExampleRow(NamedTuple):
    """An invented published row, and the column in which the invented person does not fit, if any."""

    cells: Sequence[str]
    misfit: int | None


class Example(NamedTuple):
    """An invented person, and rows of which the person fits some."""

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
# Where a reader may jump to: the sections' ids and headings, in their order.
SECTIONS = {
    "promise": "What is promised, and what is not",
    "checked": "How it was checked",
    "attacks": attackers.HEADING,
    "crowds": "How large the crowds are",
    "kept": "What masking left of the data",
    "cells": "How to read a cell",
    "history": "Approval and earlier releases",
    "run": "The release and its run",
    "words": "Words on this page",
}


def render(manifest: Manifest, crowds: Crowds) -> str:
    """The page of a release.

    Crowds enter as shares and binned counts only; no value or crowd of a single record stands in the page.
    """
    from markupsafe import Markup

    iterations = manifest.get("iterations", [])
    return template("report.html.j2").render(
        manifest=manifest,
        sections=SECTIONS,
        example=EXAMPLE,
        headline=_headline(manifest),
        drawings={
            name: [Markup(svg) for svg in svgs]
            for name, svgs in _drawings(manifest, crowds).items()
        },
        iterations=summary.iteration_rows(manifest, range(len(iterations))),
        iteration_headings=summary.ITERATION_HEADINGS,
        **{
            module.__name__.removeprefix("reports."): module
            for module in (attackers, facts, history, notices, promises)
        },
    )


def _drawings(manifest: Manifest, crowds: Crowds) -> dict[str, list[str]]:
    iterations = manifest.get("iterations", [])
    attacks = attackers.attacks(manifest)
    return {
        "utility": [plots.utility_plot(iterations)] if iterations else [],
        "crowds": [plots.crowd_plot(crowds), plots.ratio_plot(crowds)],
        "columns": bars.column_plots(facts.columns(manifest)),
        "attacks": [bars.attack_plot(attacks)] if attacks else [],
    }


def _headline(manifest: Manifest) -> list[Fact]:
    privacy = manifest["privacy"]
    low, high = count(privacy["k_min"]), count(privacy["k_max"])
    told = [
        Fact("people, one row each", count(privacy["records"])),
        Fact("rows demanded as a crowd (k)", low if low == high else f"{low} to {high}"),
        Fact("people with a smaller crowd than demanded", count(privacy.get("matchable_below_k"))),
    ]
    if strongest := attackers.strongest(attackers.attacks(manifest)):
        label = f"chance of the strongest attack; by guessing {one_in(strongest.guess)}"
        told.append(Fact(label, one_in(strongest.success)))
    return [*told, Fact("of the information kept", percent(facts.kept_information(manifest)))]
