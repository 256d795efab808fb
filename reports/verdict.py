"""The one verdict on a release: does it keep its promise, to whom, and with which warnings."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from reports.facts import Manifest
from reports.notices import Notice, notices
from reports.quantities import count, known
from reports.series import whole
from reports.words import Words

HOLDS, FAILS = "The privacy promise holds", "The privacy promise does not hold"
COLOURS = {"holds": "green", "warns": "yellow", "fails": "red"}  # on a terminal


class Verdict(NamedTuple):
    """The verdict of a release.

    Only a kept promise to everybody, without any warning, has the tone "holds". "fails" is a broken
    promise, or one that protects nobody.
    """

    tone: Literal["holds", "warns", "fails"]
    heading: str
    paragraph: str
    notices: Sequence[Notice]


def verdict(manifest: Manifest, words: Words) -> Verdict:
    """Judge a release by the counts of the auditor; a missing count has not passed."""
    listed = notices(manifest, words)
    if not holds(manifest, words):
        return Verdict("fails", FAILS, _broken(manifest, words), listed)
    paragraph = words.promise(manifest)
    if protects_nobody(whole(manifest)):
        return Verdict(
            "fails",
            f"Nobody is protected: k = 1 for all {_all(manifest, words)}",
            paragraph,
            listed,
        )
    number = unprotected(whole(manifest))
    if number != 0:
        who = "Some" if number is None else f"{count(number)} of {count(_records(manifest))}"
        verb = "is" if number == 1 else "are"
        heading = f"{who} {words.subjects(manifest)} {verb} not protected"
        return Verdict("warns", heading, paragraph, listed)
    if listed:
        warnings = f"{len(listed)} warning{'s' * (len(listed) != 1)}"
        return Verdict("warns", f"{HOLDS}, with {warnings}", paragraph, listed)
    return Verdict("holds", HOLDS, paragraph, listed)


def holds(manifest: Manifest, words: Words) -> bool:
    """Whether every check of the promise was made and passed."""
    checks = words.checks(manifest)
    return bool(checks) and all(check.passed for check in checks)


def unprotected(manifest: Manifest) -> int | None:
    """How many demand no crowd, k = 1; None if the manifest does not count them."""
    privacy = manifest["privacy"]
    if protects_nobody(manifest):
        return int(privacy["records"])
    if known(privacy["k_min"]) and privacy["k_min"] > 1:
        return 0
    number = privacy.get("unprotected")
    return int(number) if known(number) and number > 0 else None


def protects_nobody(manifest: Manifest) -> bool:
    """Whether no one demands a crowd."""
    most = manifest["privacy"]["k_max"]
    return not known(most) or most < 2


def _records(manifest: Manifest) -> int:
    return int(whole(manifest)["privacy"]["records"])


def _all(manifest: Manifest, words: Words) -> str:
    return f"{count(_records(manifest))} {words.subjects(manifest)}"


def _broken(manifest: Manifest, words: Words) -> str:
    """The failed checks."""
    broken = "; ".join(
        f"{check.what.lower()}, {check.measured}"
        for check in words.checks(manifest)
        if not check.passed
    )
    return (
        f"Failed checks in this release of {_all(manifest, words)}: {broken}. "
        "Do not use this release and do not pass it on."
    )
