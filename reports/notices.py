"""What a reader must know before using a release: risks, and what is not stated."""

from typing import NamedTuple

from reports import history
from reports.facts import Manifest
from reports.words import Words

HEADING = "What else to know"


class Notice(NamedTuple):
    """One sentence, and whether it is a risk or only something that the release does not state."""

    risk: bool
    text: str


def notices(manifest: Manifest, words: Words) -> list[Notice]:
    """Risks first, then what is missing."""
    listed = [Notice(risk=True, text=risk) for risk in words.risks(manifest)]
    if history.approval_lacks(manifest):
        unapproved = "The plan requires an approval, but nobody's is recorded."
        listed.append(Notice(risk=True, text=unapproved))
    if missing := words.missing(manifest):
        text = f"Not stated for this release: {', '.join(missing)}."
        listed.append(Notice(risk=False, text=text))
    return listed
