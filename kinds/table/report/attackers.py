"""Attacks on a released table: the attacker's knowledge and how often the attack succeeds."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from crowdcover.kinds.table.plan.limits import BY_DEMAND, WITNESS
from crowdcover.kinds.table.report.facts import describe_subjects
from crowdcover.reports.facts import Fact, Manifest
from crowdcover.reports.messages import load_messages
from crowdcover.reports.quantities import (
    NOT_STATED,
    convert_to_float,
    is_number,
    percent,
    printable,
)
from crowdcover.reports.words import OF_EVERY_RELEASE, Block

_MESSAGES = load_messages("crowdcover.kinds", "crowdcover.kinds.table")


class Attacker(NamedTuple):
    """The attacker and its knowledge.

    `chances` is False if the attack names one row for each person, without a probability.
    """

    who: str
    knows: str
    chances: bool = True


WITHOUT_CHANCES = ("tightest row", "order", BY_DEMAND)
ATTACKERS = {  # by the name of the attack in the manifest
    name: Attacker(who, knows, name not in WITHOUT_CHANCES)
    for name, who, knows in _MESSAGES.list_lines("attackers")
}


_EXPLAINED_MEMBERSHIP = _MESSAGES.say("attacks", "membership_explained")


class Attack(NamedTuple):
    """One attack; missing numbers are nan."""

    name: str
    attacker: Attacker
    success: float
    guess: float
    above: Mapping[str, float]

    @property
    def who(self) -> str:
        """Name of the attacker."""
        return self.attacker.who

    @property
    def rate(self) -> str:
        """Average rate of success, as text."""
        if self.success > 0.5:
            return percent(self.success)
        return _MESSAGES.say("attacks", "rate", success=self.success)

    @property
    def is_bounded(self) -> bool:
        """Whether any release could hold this attacker: none holds those who know others' rows."""
        return not self.name.startswith(WITNESS)

    @property
    def is_judged(self) -> bool:
        """Whether both numbers of the comparison are known."""
        return is_number(self.success) and is_number(self.guess)

    @property
    def is_contained(self) -> bool:
        """Whether the attack succeeds no more often than guessing; False if a number is missing."""
        # Both are means of floats: rounding must not look like an attack that succeeds.
        return self.is_judged and self.success <= self.guess * (1 + 1e-9)

    @property
    def is_above(self) -> bool:
        """Whether the attack beats guessing, and need not; False if a number is missing."""
        return self.is_judged and self.is_bounded and not self.is_contained

    @property
    def result(self) -> str:
        """The comparison as text; with k = 1 for everyone a guess is always right."""
        if not self.is_judged:
            return NOT_STATED
        if self.guess >= 1:
            return _MESSAGES.say("attacks", "no_demand")
        if not self.is_bounded:
            return OF_EVERY_RELEASE
        return _MESSAGES.say("attacks", "better" if self.is_above else "no_better")

    @property
    def tone(self) -> str:
        """How the page colours the comparison."""
        if not self.is_judged or not self.is_bounded or self.guess >= 1:
            return "open"
        return "fail" if self.is_above else "pass"

    @property
    def row(self) -> tuple[str, ...]:
        """The attack as a row of the table of attacks."""
        return (
            self.who,
            self.rate if is_number(self.success) else NOT_STATED,
            percent(self.guess),
            self.result,
        )


def attacks(manifest: Manifest) -> list[Attack]:
    """The attacks that name rows, as the manifest lists them; unknown ones keep their names."""
    stated = manifest.get("attacks") or {}
    return [
        _build_attack(str(name), numbers) for name, numbers in stated.items() if name != BY_DEMAND
    ]


class DemandGuesses(NamedTuple):
    """People whose private k is guessed from the rows that fit them; as the audit counts them."""

    people: int
    right: int
    commonest: int
    ruled_out: int

    @property
    def tells(self) -> bool:
        """Whether crowds tell more than one guess for everybody, or something for certain."""
        return self.right > self.commonest or self.ruled_out > 0

    @property
    def row(self) -> tuple[str, ...]:
        """The attack as a row of the table of what crowds tell of k."""
        result = _MESSAGES.say("attacks", "better" if self.right > self.commonest else "no_better")
        return ATTACKERS[BY_DEMAND].who, self._of(self.right), self._of(self.commonest), result

    @property
    def sentences(self) -> str:
        """What the crowds tell, in words."""
        return _MESSAGES.say(
            "demand_guesses",
            "private",
            right=self._of(self.right),
            commonest=self._of(self.commonest),
            ruled_out=self.ruled_out,
            surely=self._of(self.ruled_out),
        )

    def _of(self, number: int) -> str:
        return _MESSAGES.say("demand_guesses", "count", number=number, people=self.people)


def demand_guesses(manifest: Manifest) -> DemandGuesses | None:
    """What crowds tell of a private k; None if k is not private or that was not measured."""
    stated = (manifest.get("attacks") or {}).get(BY_DEMAND) or {}
    numbers = [stated.get(name) for name in ("right", "commonest", "ruled_out")]
    people = manifest["privacy"]["records"]
    if not is_number(people) or people < 1 or not all(is_number(number) for number in numbers):
        return None
    return DemandGuesses(int(people), *(int(number) for number in numbers if is_number(number)))


def _build_attack(name: str, numbers: Mapping[str, Any]) -> Attack:
    plain = name.replace("_", " ").replace("-", " ").lower()
    unknown = Attacker(
        _MESSAGES.say("attacks", "unknown", name=repr(printable(name))),
        _MESSAGES.say("attacks", "unknown_knows"),
    )
    attacker = ATTACKERS.get(plain, unknown)
    above = {
        str(times): convert_to_float(share) for times, share in (numbers.get("above") or {}).items()
    }
    return Attack(
        printable(name),
        attacker,
        convert_to_float(numbers.get("success")),
        convert_to_float(numbers.get("promised")),
        above,
    )


def multiples(tried: list[Attack]) -> list[str]:
    """The multiples of 1/k above which people were counted, ascending."""
    return sorted(
        {times for attack in tried for times in attack.above},
        key=lambda times: (_parse_multiple(times), times),
    )


def multiple_headings(times: list[str]) -> list[str]:
    """Column headings of `shares`."""
    return [_MESSAGES.say("attacks", "above", times=each) for each in times]


def shares(attack: Attack, times: list[str]) -> list[str]:
    """Shares of people above these multiples of 1/k; "-" for an attack without chances."""
    if not attack.attacker.chances:
        return ["-"] * len(times)
    return [percent(attack.above.get(each, math.nan)) for each in times]


def find_strongest_attack(tried: list[Attack]) -> Attack | None:
    """The attack that succeeds most often, of those that a promise may bound."""
    return max(
        (each for each in tried if is_number(each.success) and each.is_bounded),
        key=lambda attack: attack.success,
        default=None,
    )


def _parse_multiple(times: str) -> float:
    try:
        return float(times)
    except ValueError:
        return math.inf


def build_attack_blocks(manifest: Manifest) -> list[Block]:
    """Success of the attacks, then chances above multiples of 1/k; two tables fit 80 columns."""
    tried = attacks(manifest)
    if not tried:
        return []
    known_of = [Fact(attack.who, attack.attacker.knows) for attack in tried]
    attack_rows = [attack.row for attack in tried]
    listed = [
        Block(_name_table("attacks"), _list_columns("attack"), attack_rows, meanings=known_of)
    ]
    if times := multiples(tried):
        headings = (_name_table("attacker"), *multiple_headings(times))
        rows = [(attack.who, *shares(attack, times)) for attack in tried]
        listed.append(Block(_name_table("chances"), headings, rows))
    if (guessed := demand_guesses(manifest)) is not None:
        heading, columns = _name_table("demand_guesses"), _list_columns("demand_guess")
        listed.append(Block(heading, columns, [guessed.row]))
    if (members := build_membership_block(manifest)) is not None:
        listed.append(members)
    return listed


def build_membership_block(manifest: Manifest) -> Block | None:
    """Who is said to be in the table, of those who are and of drawn people; None without these."""
    found = (manifest.get("protection") or {}).get("membership")
    if not found or not found["drawn"]:
        return None
    records, rows = manifest["privacy"]["records"], []
    thresholds = [(1, records, found["matched"])]
    if found["rows"] > 1:
        thresholds.append((found["rows"], found["members"], found["others"]))
    for number, inside, outside in thresholds:
        label = _MESSAGES.say("membership", "rows", rows=number, whom=describe_subjects(manifest))
        if number == found["rows"] and len(thresholds) > 1:
            label = _MESSAGES.say("membership", "best", label=label)
        counts = ((inside, records), (outside, found["drawn"]))
        shares = [_MESSAGES.say("membership", "count", number=a, all=b) for a, b in counts]
        rows.append((label, *shares))
    heading, columns = _name_table("membership"), _list_columns("membership_column")
    return Block(heading, columns, rows, meanings=[Fact(heading, _EXPLAINED_MEMBERSHIP)])


def explain_attacks(name: str) -> str:
    """A text about the tables of attacks: "explained", "above_explained" or "not_tried"."""
    return _MESSAGES.say("attacks", name)


def list_attack_warnings(manifest: Manifest) -> list[str]:
    """Attacks that succeed more often than guessing, for some people or on average."""
    guessed = demand_guesses(manifest)
    warnings = [] if guessed is None or not guessed.tells else [guessed.sentences]
    for attack in attacks(manifest):
        if not attack.is_bounded:
            continue
        figures = {"who": attack.who, "success": attack.success, "guess": attack.guess}
        if attack.is_above:
            warnings.append(_MESSAGES.say("warnings", "attack", **figures))
        share = attack.above.get("3")
        if attack.attacker.chances and is_number(share) and share > 0:
            warnings.append(_MESSAGES.say("warnings", "attack_above", share=share, **figures))
    return warnings


def _name_table(name: str) -> str:
    return _MESSAGES.say("headings", name)


def _list_columns(name: str) -> tuple[str, ...]:
    return _MESSAGES.list_headings("headings", name)
