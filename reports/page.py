"""report.html: a release for readers who do not know the code, in one file that loads nothing."""

from typing import Any

from reports import facts, history, notices, steps, verdict
from reports.facts import Manifest
from reports.templates import template
from reports.words import Words


def render(manifest: Manifest, measured: Any, words: Words) -> str:
    """Render the page of a release.

    `measured` goes to the sections of the kind. The page shows no value of a single record.
    """
    own = words.sections(manifest, measured)
    sections = {
        "promise": "What is promised and what is not",
        **{section.id: section.heading for section in own},
        "history": "Approval and earlier releases",
        "run": "The release and its run",
        "words": "Terms on this page",
    }
    places = range(len(steps.entries(manifest)))
    return template("report.html.j2").render(
        manifest=manifest,
        sections=sections,
        own=own,
        promise_holds=verdict.holds(manifest, words),
        verdict=verdict.heading(manifest, words),
        promise=verdict.paragraph(manifest, words),
        promised=words.promised(manifest),
        not_promised=words.not_promised(manifest),
        demand=words.demand(manifest),
        headline=words.headline(manifest),
        notices=notices.notices(manifest, words),
        notices_heading=notices.HEADING,
        steps=steps.rows(manifest, words, places),
        step_headings=steps.headings(manifest),
        kept_step=words.kept_step(steps.entries(manifest)),
        glossary=words.glossary,
        facts=facts,
        history=history,
    )
