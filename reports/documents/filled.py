"""Documents that regulators ask for, filled from the manifest of a release.

Every figure stands with its place in manifest.json; what the manifest does not tell is a gap for a
person. Nothing is judged here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdcover.reports import risk_lines
from crowdcover.reports.facts import Manifest, title_of
from crowdcover.reports.hipaa import build_checklist, list_published_columns
from crowdcover.reports.markdown import escape_markup
from crowdcover.reports.quantities import NOT_STATED, count, is_number, one_in, percent, printable
from crowdcover.reports.words import Words

FOLDER = Path(__file__).parent / "templates"
_END = ".md.j2"
_FORMS = {"count": count, "percent": percent, "one_in": one_in}


def list_templates() -> list[str]:
    """The names of the documents."""
    return sorted(path.name.removesuffix(_END) for path in FOLDER.glob(f"*{_END}"))


def fill_template(name: str, manifest: Manifest, words: Words) -> str:
    """A document as markdown: counts, shares and names of columns, no values."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # What comes from outside is escaped for markdown, not for HTML.
        finalize=lambda value: (
            value if isinstance(value, Markup) else Markup(escape_markup(printable(str(value))))  # noqa: S704
        ),
    )

    def show_figure(place: str, form: str = "count") -> Markup:
        return Markup(_show_place(manifest, place, form))  # noqa: S704 - escaped there

    def mark_gap(what: str) -> Markup:
        return Markup(_mark_gap(what))  # noqa: S704 - escaped there

    lines = risk_lines.list_risk_lines(manifest, words)
    chances = manifest.get("protection", {}).get("reidentification", {})
    text = environment.get_template(f"{name}{_END}").render(
        title=title_of(manifest),
        show=show_figure,
        gap=mark_gap,
        people=words.subjects(manifest),
        demand=words.demand(manifest),
        promise=words.promise(manifest),
        promised=words.promised(manifest),
        not_promised=words.not_promised(manifest),
        checks=words.checks(manifest),
        warnings=words.warnings(manifest),
        risks=words.risks(manifest),
        lines=[risk_lines.describe_line(line) for line in lines],
        asides=risk_lines.list_asides(lines),
        columns=words.columns(manifest),
        # A table loses parts of cells; other kinds have numbers of their own.
        loses_cells=is_number(manifest["utility"].get("gcp")),
        has_chances=bool(chances),
        has_population="population" in chances,
        headline=words.headline(manifest),
        roles={name: each["role"] for name, each in manifest.get("columns", {}).items()},
        attacks=sorted(_name_judged_attacks(manifest)),
        limits=manifest.get("checks", []),
        identifiers=build_checklist(manifest),
        published=list_published_columns(manifest),
    )
    return text.strip() + "\n"


def _mark_gap(what: str) -> str:
    return f"**[to be filled in: {escape_markup(what)}]**"


def _show_place(manifest: Manifest, place: str, form: str) -> str:
    """The figure at a place such as `privacy.records`, and the place; a gap if it is not there."""
    value: Any = manifest
    for key in place.split("/"):
        value = value.get(key) if isinstance(value, Mapping) else None
    text = _FORMS[form](value) if is_number(value) else NOT_STATED
    if isinstance(value, str) and value:
        text = escape_markup(printable(value))
    if text == NOT_STATED:
        return _mark_gap(f"{place} is not in the manifest")
    return f"{text} (`{place}`)"


def _name_judged_attacks(manifest: Manifest) -> list[str]:
    """Attackers of whom the manifest states a mean chance."""
    attacks = manifest.get("attacks") or {}
    return [
        name
        for name, each in attacks.items()
        if isinstance(each, Mapping) and is_number(each.get("success"))
    ]
