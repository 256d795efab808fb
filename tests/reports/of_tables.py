"""Reports in the words of tables."""

from kinds.table.words import WORDS
from reports import markdown as marked
from reports import page, summary, verdicts
from reports import verdict as judging


def render_page(manifest, crowds):
    return page.render(manifest, crowds, WORDS)


def render_verdicts(run, documents):
    return verdicts.render(run, documents, WORDS)


def markdown(manifest):
    return marked.release(manifest, WORDS)


def terminal(manifest, console):
    summary.terminal(manifest, console, WORDS)


def holds(manifest):
    return judging.holds(manifest, WORDS)


def verdict(manifest):
    return judging.verdict(manifest, WORDS)
