"""Warnings that belong to the verdict: what a reader must know, and what was not measured."""

from typing import NamedTuple

from crowdcover.reports import history
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.words import Words

_MESSAGES = load_messages("crowdcover.reports")
HEADING = _MESSAGES.say("notices", "heading")


class Notice(NamedTuple):
    """One sentence; a risk, or else a number that the release does not state."""

    risk: bool
    text: str


def list_notices(manifest: Manifest, words: Words) -> list[Notice]:
    """All notices of a release: risks first, then missing numbers."""
    listed = [Notice(risk=True, text=warning) for warning in words.warnings(manifest)]
    if history.approval_lacks(manifest):
        listed.append(Notice(risk=True, text=_MESSAGES.say("notices", "unapproved")))
    if missing := words.list_unstated(manifest):
        text = _MESSAGES.say("notices", "missing", missing=missing)
        listed.append(Notice(risk=False, text=text))
    return listed
