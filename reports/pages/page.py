"""report.html: a release for readers who do not know the code, in one file that loads nothing."""

from typing import Any

from crowdcover.reports import about, decisions, facts, hipaa, history, risk_lines, series, steps
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.notices import HEADING
from crowdcover.reports.pages.templates import load_template
from crowdcover.reports.quantities import take_first_sentence
from crowdcover.reports.verdict import count_unprotected, judge_manifest, protects_nobody
from crowdcover.reports.words import ABOVE, WITHIN, Words


def render_release_page(manifest: Manifest, measured: Any, words: Words) -> str:
    """Render the page of a release.

    `measured` goes to the sections of the kind. The page shows no value of a single record.
    """
    places = range(len(steps.list_steps(manifest)))
    lines = risk_lines.list_risk_lines(manifest, words)
    no_change = words.describe_no_change(manifest)
    return load_template("report.html.j2").render(
        manifest=manifest,
        sections=load_messages("crowdcover.reports").name_entries("sections"),
        own=words.sections(manifest, measured),
        verdict=judge_manifest(manifest, words),
        warnings_heading=HEADING,
        whole=series.with_all_rows(manifest),
        version=series.describe_version(manifest),
        about_new=series.about_new(manifest),
        # Of a version, people of earlier rows count, too: the other numbers are of new rows.
        unprotected=count_unprotected(series.with_all_rows(manifest)),
        nobody=protects_nobody(series.with_all_rows(manifest)),
        subjects=words.subjects(manifest),
        promised=words.promised(manifest),
        not_promised=words.not_promised(manifest),
        not_promised_short=words.not_promised_short(manifest),
        decisions=decisions,
        demand=words.demand(manifest),
        headline=words.headline(manifest),
        about=about,
        columns=words.columns(manifest),
        risks=words.risks(manifest),
        risk_lines=lines,
        no_change=no_change,
        # The section on promises has all of it.
        promise=take_first_sentence(words.promise(manifest).removeprefix(no_change).lstrip()),
        risks_heading=risk_lines.RISKS_HEADING,
        asides=risk_lines.list_asides(lines),
        results={WITHIN: "pass", ABOVE: "fail"},
        hipaa=hipaa,
        steps=steps.build_step_rows(manifest, words, places),
        step_headings=steps.step_headings(manifest),
        kept_step=words.find_published_step(steps.list_steps(manifest)),
        glossary=[*words.glossary, *(series.list_terms() if "series" in manifest else ())],
        facts=facts,
        history=history,
    )
