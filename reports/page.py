"""report.html: the release for a reader who never saw the code, in one file that loads nothing from elsewhere."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from reports import plots, wording
from reports.plots import Crowds
from reports.summary import ITERATION_HEADINGS, iteration_row
from reports.templates import template


class ExampleRow(NamedTuple):
    """An invented published row, and the column in which the invented person does not fit, if any."""

    cells: Sequence[str]
    misfit: int | None


EXAMPLE_COLUMNS = ("age", "occupation", "region")
EXAMPLE_PERSON = ("44", "Nurse", "North")
EXAMPLE_ROWS = (
    ExampleRow(("40..49", "Nurse", "North"), None),
    ExampleRow(("44", "Nurse|Teacher", "*"), None),
    ExampleRow(("30..44", "Clerk|Nurse", "North"), None),
    ExampleRow(("40..49", "Teacher", "North"), 1),
    ExampleRow(("25..34", "Nurse", "*"), 0),
)


def render(manifest: wording.Manifest, crowds: Crowds) -> str:
    """The page of a release.

    Crowds enter as shares and binned counts only; no value or crowd of a single record stands in the page.
    """
    from markupsafe import Markup

    drawings = {name: [Markup(svg) for svg in svgs] for name, svgs in _drawings(manifest, crowds).items()}
    return template("report.html.j2").render(drawings=drawings, **_release(manifest), **_example())


def _drawings(manifest: wording.Manifest, crowds: Crowds) -> dict[str, list[str]]:
    iterations = manifest.get("iterations", [])
    return {
        "utility": [plots.utility_plot(iterations)] if iterations else [],
        "crowds": [plots.crowd_plot(crowds), plots.ratio_plot(crowds)],
        "columns": plots.column_plots(wording.columns(manifest)),
    }


def _release(manifest: wording.Manifest) -> dict[str, Any]:
    """What the template says of this release; the words are those of the other views."""
    iterations = manifest.get("iterations", [])
    kept = wording.kept_iteration(iterations) if iterations else 0
    utility = manifest["utility"]
    return {
        "title": wording.title(manifest),
        "created": wording.created(manifest),
        "holds": wording.holds(manifest),
        "verdict": wording.verdict(manifest),
        "promise": wording.promise(manifest),
        "people": wording.count(manifest["privacy"]["records"]),
        "demand": wording.demand(manifest),
        "not_promised": wording.NOT_PROMISED,
        "checks": wording.checks(manifest),
        "privacy_facts": [*wording.privacy_facts(manifest), *wording.protection_facts(manifest)],
        "told_headings": wording.TOLD_HEADINGS,
        "told": wording.told(manifest),
        "utility_facts": wording.utility_facts(manifest),
        "release_facts": wording.release_facts(manifest),
        "headline_facts": _headline_facts(manifest, utility),
        "columns": wording.columns(manifest),
        "iteration_headings": ITERATION_HEADINGS,
        "iterations": [iteration_row(place, entry, kept) for place, entry in enumerate(iterations)],
        "kept": kept,
        "timings": wording.timings(manifest),
        "plan_sha256": wording.printable(manifest["plan_sha256"]),
        "files": [(wording.printable(name), wording.printable(sha)) for name, sha in manifest.get("files", {}).items()],
    }


def _headline_facts(manifest: wording.Manifest, utility: Any) -> list[wording.Fact]:
    low, high = (wording.count(manifest["privacy"][key]) for key in ("k_min", "k_max"))
    return [
        wording.Fact("people, one row each", wording.count(manifest["privacy"]["records"])),
        wording.Fact("rows demanded as a crowd", low if low == high else f"{low} to {high}"),
        wording.Fact("people with a crowd below demand", wording.count(manifest["privacy"].get("matchable_below_k"))),
        wording.Fact("of the cells published exactly", wording.percent(utility.get("cells_exact"))),
    ]


def _example() -> dict[str, Any]:
    return {"example_columns": EXAMPLE_COLUMNS, "example_person": EXAMPLE_PERSON, "example_rows": EXAMPLE_ROWS}
