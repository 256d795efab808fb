"""The attacks on a released table: who attacks, with what knowledge, and how often it works."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from reports.facts import Manifest
from reports.quantities import NOT_STATED, known, one_in, percent, printable

HEADING = "Attacks that were tried"
HEADINGS = ("Attacker", "Finds the right row", "Guessing", "Compared")
NOT_TRIED = (
    "No attacks are recorded for this release: none were tried, or it was made before they were "
    "recorded."
)
EXPLAINED = (
    "Programs played the attacker and tried to name each person's row. The page compares how often "
    "that works on average with guessing: picking blindly among the k rows that the plan demands "
    "for the person. This is measured, not promised."
)
ABOVE_EXPLAINED = (
    "Above 1/k: the share of people of whom the attacker takes one row for likelier than a guess "
    "among their own k rows would make it. Above 1.5/k: more than one and a half times as likely, "
    "and so on. An attack whose guess is right or wrong, with no chances in between, has no such "
    "share."
)


class Attacker(NamedTuple):
    """Who attacks and with what knowledge.

    `chances` is False where a guess is right or wrong, with no chance for each person.
    """

    who: str
    knows: str
    chances: bool = True


# By what the manifest calls the attack.
ATTACKERS = {
    "linkage": Attacker(
        "An acquaintance", "knows all quasi-identifiers of the person and looks for rows that fit"
    ),
    "partial linkage": Attacker(
        "A passer-by", "knows some of the person's quasi-identifiers and looks for rows that fit"
    ),
    "tightest row": Attacker(
        "A puzzler",
        "knows all quasi-identifiers of the person and takes the least masked of the rows that fit",
        chances=False,
    ),
    "insider": Attacker(
        "An insider",
        "knows all quasi-identifiers of everybody, the plan and the program, though not the vault, and works out the "
        "likeliest row",
    ),
    "order": Attacker(
        "A reader of files",
        "knows nobody, and takes the row that order, keys or files seem to point to",
        chances=False,
    ),
    "intersection": Attacker(
        "A collector", "lays this release beside earlier ones of the same people"
    ),
}
UNKNOWN = "makes an attack that this page has no words for"


class Attack(NamedTuple):
    """One attack; numbers that are missing are nan."""

    name: str
    attacker: Attacker
    success: float
    guess: float
    above: Mapping[str, float]

    @property
    def who(self) -> str:
        """Who attacks."""
        return self.attacker.who

    @property
    def found(self) -> str:
        """How often it works on average."""
        return (
            percent(self.success)
            if self.success > 0.5
            else f"{percent(self.success)} ({one_in(self.success)})"
        )

    @property
    def judged(self) -> bool:
        """Whether there is anything to compare."""
        return known(self.success) and known(self.guess)

    @property
    def contained(self) -> bool:
        """Whether it works no more often than guessing; not so where nothing is stated."""
        return self.judged and self.success <= self.guess * (1 + 1e-9)

    @property
    def result(self) -> str:
        """The comparison in words."""
        return ("no better" if self.contained else "better") if self.judged else NOT_STATED

    @property
    def row(self) -> tuple[str, ...]:
        """The attack under `HEADINGS` and the headings of `multiples`."""
        return (
            self.who,
            self.found if known(self.success) else NOT_STATED,
            percent(self.guess),
            self.result,
        )


def attacks(manifest: Manifest) -> list[Attack]:
    """The attacks in the manifest's order; one that is not known here goes by its own name."""
    return [_attack(str(name), found) for name, found in (manifest.get("attacks") or {}).items()]


def _attack(name: str, found: Mapping[str, Any]) -> Attack:
    plain = name.replace("_", " ").replace("-", " ").lower()
    attacker = ATTACKERS.get(plain, Attacker(f"Attack {printable(name)!r}", UNKNOWN))
    above = {str(times): _number(share) for times, share in (found.get("above") or {}).items()}
    return Attack(
        printable(name),
        attacker,
        _number(found.get("success")),
        _number(found.get("promised")),
        above,
    )


def multiples(found: list[Attack]) -> list[str]:
    """The multiples of 1/k above which people were counted, ascending."""
    return sorted(
        {times for attack in found for times in attack.above},
        key=lambda times: (_order(times), times),
    )


def multiple_headings(times: list[str]) -> list[str]:
    """What stands above the shares of people who are found more often than so many times 1/k."""
    return [f"Above {printable(each)}/k" for each in times]


def shares(attack: Attack, times: list[str]) -> list[str]:
    """The shares of people above these multiples; a guess that is right or wrong has none."""
    if not attack.attacker.chances:
        return ["-"] * len(times)
    return [percent(attack.above.get(each, math.nan)) for each in times]


def strongest(found: list[Attack]) -> Attack | None:
    """The attack that works most often."""
    return max(
        (attack for attack in found if known(attack.success)),
        key=lambda attack: attack.success,
        default=None,
    )


def _order(times: str) -> float:
    try:
        return float(times)
    except ValueError:
        return math.inf


def _number(found: Any) -> float:
    return float(found) if known(found) else math.nan


def table(manifest: Manifest) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings and rows of the attacks."""
    tried = attacks(manifest)
    times = multiples(tried)
    headings = (*HEADINGS, *multiple_headings(times))
    return headings, [(*attack.row, *shares(attack, times)) for attack in tried]


def risks(manifest: Manifest) -> list[str]:
    """Attacks that work better than guessing, for some people or on average."""
    risks = []
    for attack in attacks(manifest):
        if attack.judged and not attack.contained:
            risks.append(
                f"{attack.who} finds the right row more often than by guessing: on average "
                f"{percent(attack.success)} against {percent(attack.guess)}."
            )
        share = attack.above.get("3")
        if attack.attacker.chances and known(share) and share > 0:
            risks.append(
                f"{attack.who} holds a row of {percent(share)} of the people for more than three "
                "times as likely as a guess."
            )
    return risks
