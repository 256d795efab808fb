"""Notices that a reader must know before using a release: risks and missing numbers."""

from typing import NamedTuple

from reports import history
from reports.facts import Manifest
from reports.words import Words

HEADING = "What else to know"


class Notice(NamedTuple):
    """One sentence; a risk, or else a number that the release does not state."""

    risk: bool
    text: str


def notices(manifest: Manifest, words: Words) -> list[Notice]:
    """All notices of a release: risks first, then missing numbers."""
    listed = [Notice(risk=True, text=risk) for risk in words.risks(manifest)]
    if history.approval_lacks(manifest):
        unapproved = "The plan requires an approval, but none is recorded."
        listed.append(Notice(risk=True, text=unapproved))
    if missing := words.missing(manifest):
        text = f"Not stated for this release: {', '.join(missing)}."
        listed.append(Notice(risk=False, text=text))
    return listed
