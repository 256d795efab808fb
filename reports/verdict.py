"""Whether a release keeps its promise, as text."""

from reports.facts import Manifest
from reports.quantities import count
from reports.words import Words

HOLDS, FAILS = "The privacy promise holds", "The privacy promise does not hold"


def holds(manifest: Manifest, words: Words) -> bool:
    """Whether every check of the promise was made and passed."""
    checks = words.checks(manifest)
    return bool(checks) and all(check.passed for check in checks)


def heading(manifest: Manifest, words: Words) -> str:
    """The verdict as a short heading."""
    return HOLDS if holds(manifest, words) else FAILS


def paragraph(manifest: Manifest, words: Words) -> str:
    """The promise if it holds, else the failed checks."""
    if holds(manifest, words):
        return words.promise(manifest)
    broken = "; ".join(
        f"{check.what.lower()}, {check.measured}"
        for check in words.checks(manifest)
        if not check.passed
    )
    people = count(manifest["privacy"]["records"])
    return (
        f"Failed checks in this release of {people} people: {broken}. "
        "Do not use this release and do not pass it on."
    )
