"""Attackers and risks of a released matrix, read from its manifest."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from crowdcover.kinds.matrix.report.findings import CLASSES
from crowdcover.kinds.words import build_unmeasured_figure
from crowdcover.reports.facts import Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import is_number, one_in, percent
from crowdcover.reports.words import (
    ABOVE,
    NO_DEMAND,
    NO_LIMIT,
    NOT_MEASURED,
    WITHIN,
    Figure,
    Risk,
    against_limit,
    attack_limits,
    three_risks,
)

_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.matrix")


class Attack(NamedTuple):
    """What an attacker with some known items reaches; chances are upper bounds."""

    name: str
    success: Any
    guess: Any
    above: Any
    tried: int
    of: int

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Name, success, guess, and the share of users above 1/k."""
        return self.name, one_in(self.success), one_in(self.guess), percent(self.above)


def attacks(manifest: Manifest) -> list[Attack]:
    """The attackers in the order of what they know; without those that nobody has items for."""
    return [
        Attack(name, each["success"], each["promised"], each["above"], each["tried"], each["of"])
        for name, each in manifest["attacks"].items()
        if each["tried"]
    ]


# ---------------------------------------------------------------- the three risks


def list_risks(manifest: Manifest) -> list[Risk]:
    """Singling out, linkability, inference: the three risks of WP216."""
    return three_risks(
        "user",
        "an item",
        _list_singling_out(manifest),
        _list_linkability(manifest),
        _list_inference(manifest),
    )


def _list_singling_out(manifest: Manifest) -> Iterator[Figure]:
    privacy = manifest["privacy"]
    number, records = privacy["classes_below_k"], privacy["records"]
    result = WITHIN if number == 0 else ABOVE
    yield Figure(
        _MESSAGES.say("counted", CLASSES),
        _MESSAGES.say("risks", "below", number=number, records=records),
        "0: the promise",
        NO_DEMAND if privacy["k_max"] < 2 else result,
    )
    if privacy["k_min"] < 2:
        alone = _MESSAGES.say("risks", "below", number=privacy["unprotected"], records=records)
        yield Figure(_MESSAGES.say("risks", "alone"), alone, "0", ABOVE)


def _list_linkability(manifest: Manifest) -> Iterator[Figure]:
    limits = attack_limits(manifest)
    for attack in attacks(manifest):
        what = _MESSAGES.say("risks", "find", attacker=attack.name)
        yield against_limit(what, attack, attack.above == 0, limits)
    yield build_unmeasured_figure(_MESSAGES.say("risks", "other_releases"))


def _list_inference(manifest: Manifest) -> Iterator[Figure]:
    for key, what in _MESSAGES.name_entries("inference").items():
        share = manifest["protection"].get(key)
        measured = (
            _MESSAGES.say("risks", "up_to", share=share) if is_number(share) else NOT_MEASURED
        )
        yield Figure(what, measured, "nothing", NO_LIMIT)
