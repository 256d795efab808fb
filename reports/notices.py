"""What a reader has to know before using a release: what does not hold, and what is not stated."""

from collections.abc import Iterator
from typing import NamedTuple

from reports import attackers, history
from reports.facts import Manifest
from reports.quantities import known, percent, printable

HEADING = "What else to know"


class Notice(NamedTuple):
    """One sentence, and whether it is a risk or only something that the release does not state."""

    risk: bool
    words: str


def notices(manifest: Manifest) -> list[Notice]:
    """Risks first, then what is missing."""
    risks = [
        Notice(risk=True, words=words)
        for words in (*_told(manifest), *_found(manifest), *_unapproved(manifest))
    ]
    missing = list(_missing(manifest))
    if missing:
        risks.append(
            Notice(risk=False, words=f"Not stated for this release: {', '.join(missing)}.")
        )
    return risks


def _told(manifest: Manifest) -> Iterator[str]:
    for name, found in manifest.get("protection", {}).get("sensitive", {}).items():
        if found.get("distinct") == 1:
            yield (
                f"In at least one crowd all rows carry the same value of the sensitive column {printable(name)}: whoever hides "
                "there has this value known."
            )


def _found(manifest: Manifest) -> Iterator[str]:
    for attack in attackers.attacks(manifest):
        if attack.judged and not attack.contained:
            yield (
                f"{attack.who} finds the right row more often than by guessing: on average {percent(attack.success)} "
                f"against {percent(attack.guess)}."
            )
        if attack.attacker.chances and known(far := attack.above.get("3")) and far > 0:
            yield f"{attack.who} holds a row of {percent(far)} of the people for more than three times as likely as a guess."


def _unapproved(manifest: Manifest) -> Iterator[str]:
    if history.approval_lacks(manifest):
        yield "The plan requires an approval, but nobody's is recorded."


def _missing(manifest: Manifest) -> Iterator[str]:
    if not manifest.get("protection"):
        yield "how diverse the crowds' sensitive values are"
    if not manifest.get("attacks"):
        yield "how attacks fare"
