"""report.html: the release for a reader who never saw the code, in one file that loads nothing."""

from typing import Any

from reports import facts, history, notices, steps, verdict
from reports.facts import Manifest
from reports.templates import template
from reports.words import Words


def render(manifest: Manifest, measured: Any, words: Words) -> str:
    """The page of a release.

    `measured` goes to the kind's own sections. No value of a single record is on the page.
    """
    own = words.sections(manifest, measured)
    sections = {
        "promise": "What is promised, and what is not",
        **{section.id: section.heading for section in own},
        "history": "Approval and earlier releases",
        "run": "The release and its run",
        "words": "Words on this page",
    }
    places = range(len(steps.entries(manifest)))
    return template("report.html.j2").render(
        manifest=manifest,
        sections=sections,
        own=own,
        holds=verdict.holds(manifest, words),
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
