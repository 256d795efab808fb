"""Reports in the words of tables."""

from crowdcover.kinds.table.report.words import WORDS
from crowdcover.reports import markdown as marked
from crowdcover.reports import verdict as judging
from crowdcover.reports.pages import page, verdicts
from crowdcover.reports.terminal import summary


def render_page(manifest, crowds):
    return page.render_release_page(manifest, crowds, WORDS)


def render_verdicts(run, documents):
    return verdicts.render_verdicts_page(run, documents, WORDS)


def markdown(manifest):
    return marked.render_release(manifest, WORDS)


def terminal(manifest, console):
    summary.print_release(manifest, console, WORDS)


def holds(manifest):
    return judging.promise_holds(manifest, WORDS)


def verdict(manifest):
    return judging.judge_manifest(manifest, WORDS)
