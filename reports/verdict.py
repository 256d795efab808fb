"""The one verdict on a release: does it keep its promise, to whom, and what does it show anyway.

Its state and its heading are decided here for the page, the terminal and Prefect alike.
"""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import capitalize_first, load_messages
from crowdcover.reports.notices import Notice, list_notices
from crowdcover.reports.quantities import is_number
from crowdcover.reports.risk_lines import list_risk_lines
from crowdcover.reports.series import with_all_rows
from crowdcover.reports.words import Exposure, Words

_MESSAGES = load_messages("crowdcover.reports")
HOLDS, FAILS, NOTHING = (_MESSAGES.say("judgement", key) for key in ("holds", "fails", "nothing"))
_MANY = 0.1  # share of the people from which a heading names them first
Tone = Literal["holds", "warns", "some", "many", "fails"]


class Verdict(NamedTuple):
    """The verdict of a release.

    Only a kept promise to everybody, without any warning, has the tone "holds". With "some" and
    "many" the promise holds, but the release shows a secret of some people, or does not protect
    them: the heading counts them. A release in which nothing was hidden says so first and has the
    tone "many". "warns" is any other warning. "fails" is a broken promise, or one that protects
    nobody.
    """

    tone: Tone
    heading: str
    paragraph: str
    notices: Sequence[Notice]

    @property
    def loud(self) -> bool:
        """Whether the heading must not be overlooked."""
        return self.tone in ("many", "fails")


def judge_manifest(manifest: Manifest, words: Words) -> Verdict:
    """Judge a release by the counts of the auditor; a missing count has not passed."""
    listed = list_notices(manifest, words)
    # A broken promise comes first: nothing that is said below would hold.
    if not promise_holds(manifest, words):
        return Verdict("fails", FAILS, _name_broken_checks(manifest, words), listed)
    paragraph = words.promise(manifest)
    # Where everybody has k = 1, checks hold that protect nobody.
    if protects_nobody(with_all_rows(manifest)):
        return Verdict(
            "fails",
            _MESSAGES.say("judgement", "nobody", **_count_everyone(manifest, words)),
            paragraph,
            listed,
        )
    untouched = bool(words.describe_no_change(manifest))
    first = f"{NOTHING}. " * untouched
    warning = [line for line in list_risk_lines(manifest, words) if line.warns]
    number = len(listed) + len(warning)
    tone, heading = _find_concerns(manifest, words) or _no_concerns(number)
    return Verdict("many" if untouched else tone, f"{first}{heading}", paragraph, listed)


def _no_concerns(warnings: int) -> tuple[Tone, str]:
    """Tone and heading where nobody is known."""
    if not warnings:
        return "holds", HOLDS
    return "warns", _MESSAGES.say("judgement", "warns", holds=HOLDS, number=warnings)


def _find_concerns(manifest: Manifest, words: Words) -> tuple[Tone, str] | None:
    """Tone and heading where some have k = 1, or the release shows something of some.

    A share that was not counted may be large.
    """
    alone, exposure = _not_protected(manifest, words), words.exposure(manifest)
    both = [each for each in (alone, exposure) if each is not None]
    if not both:
        return None
    # Not counted is taken for many: a missing number must not calm.
    many = any(each.share is None or each.share >= _MANY for each in both)
    text = ", and ".join(each.text for each in both)
    if alone is not None:  # no promise is about them
        return "many" if many else "some", capitalize_first(text)
    tone: Tone = "many" if many else "some"
    return tone, _MESSAGES.say("judgement", tone, holds=HOLDS, text=text)


def _not_protected(manifest: Manifest, words: Words) -> Exposure | None:
    """The people with k = 1."""
    number, everyone = count_unprotected(with_all_rows(manifest)), _count_everyone(manifest, words)
    if number == 0:
        return None
    if number is None:
        return Exposure(None, _MESSAGES.say("judgement", "alone_uncounted", **everyone))
    text = _MESSAGES.say("judgement", "alone", number=number, **everyone)
    return Exposure(number / everyone["records"], text)


def promise_holds(manifest: Manifest, words: Words) -> bool:
    """Whether every check of the promise was made and passed."""
    checks = words.checks(manifest)
    # all() of no checks is true; a promise that nothing checked is not kept.
    return bool(checks) and all(check.passed for check in checks)


def count_unprotected(manifest: Manifest) -> int | None:
    """How many demand no crowd, k = 1; None if the manifest does not count them."""
    privacy = manifest["privacy"]
    if protects_nobody(manifest):
        return int(privacy["records"])
    if is_number(privacy["k_min"]) and privacy["k_min"] > 1:
        return 0
    # With k_min = 1 somebody has k = 1: a count of 0 contradicts it, and counts as not stated.
    number = privacy.get("unprotected")
    return int(number) if is_number(number) and number > 0 else None


def protects_nobody(manifest: Manifest) -> bool:
    """Whether no one demands a crowd."""
    most = manifest["privacy"]["k_max"]
    # A missing demand protects nobody: a manifest must not look better for what it lacks.
    return not is_number(most) or most < 2


def _count_everyone(manifest: Manifest, words: Words) -> dict[str, Any]:
    """How many are counted, and what they are."""
    records = int(with_all_rows(manifest)["privacy"]["records"])
    return {"records": records, "whom": words.subjects(manifest)}


def _name_broken_checks(manifest: Manifest, words: Words) -> str:
    """The failed checks."""
    broken = [
        _MESSAGES.say("judgement", "broken_check", what=check.what, measured=check.measured)
        for check in words.checks(manifest)
        if not check.passed
    ]
    return _MESSAGES.say("judgement", "broken", checks=broken, **_count_everyone(manifest, words))
