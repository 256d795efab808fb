"""Attacks on a released table: the attacker's knowledge and how often the attack succeeds."""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from reports.facts import Fact, Manifest
from reports.quantities import NOT_STATED, count, is_number, one_in, percent, printable
from reports.words import Block

HEADING = "Attacks that were tried"
HEADINGS = ("Attacker", "Names the right row", "By guessing", "Comparison")
CHANCES = "Share of people for whom one row has a probability above a multiple of 1/k"
NOT_TRIED = (
    "No attacks are recorded for this release: none were tried, or the release is older than such "
    "records."
)
EXPLAINED = (
    "A program works out how likely each attacker names the row of a person. That follows from the "
    "source, the published rows and the chances of the lot, if even seats are promised; never from "
    "who really sits where. Without even seats, the chances of the puzzler and of the insider are "
    "estimates. The mean is compared with guessing: picking blindly among k rows, the number that "
    "the plan demands for the person."
)
ABOVE_EXPLAINED = (
    "Above 1/k: the share of people for whom the attacker gives one row a probability above 1/k, "
    "the chance of a guess among k rows. Above 1.5/k: above one and a half times that chance, and "
    "so on. A dash stands for an attack that names a row without a probability."
)


class Attacker(NamedTuple):
    """The attacker and its knowledge.

    `chances` is False if the attack names one row for each person, without a probability.
    """

    who: str
    knows: str
    chances: bool = True


# By the name of the attack in the manifest.
ATTACKERS = {
    "linkage": Attacker(
        "An acquaintance", "knows all quasi-identifiers of the person and looks for rows that fit"
    ),
    "partial linkage": Attacker(
        "A passer-by", "knows some of the person's quasi-identifiers and looks for rows that fit"
    ),
    "tightest row": Attacker(
        "A puzzler",
        "knows all quasi-identifiers of the person and picks the least masked row that fits",
        chances=False,
    ),
    "insider": Attacker(
        "An insider",
        "knows all quasi-identifiers of everybody, the plan, the program and, if even seats are "
        "promised, the chances of the lot, but not who sits where; names the most likely row",
    ),
    "insider who knows 1": Attacker(
        "An insider with a witness",
        "knows in addition the row of one other person, the one whose row helps most, and rules it "
        "out; even seats promise nothing against this attacker, and chains of known rows may tell "
        "more",
    ),
    "insider who knows 2": Attacker(
        "An insider with two witnesses",
        "knows in addition the rows of two other people, those whose rows help most, and rules "
        "them out; even seats promise nothing against this attacker",
    ),
    "person": Attacker(
        "A neighbour",
        "knows the quasi-identifiers of everybody, which records are of one person, the plan and "
        "the program, and computes the row that is most likely one of the person's",
    ),
    "order": Attacker(
        "A reader of files",
        "knows nothing about people and guesses rows by their order, keys or files",
        chances=False,
    ),
    "intersection": Attacker(
        "A collector", "compares this release with earlier ones of the same people"
    ),
    "demand": Attacker(
        "A counter of rows",
        "knows all quasi-identifiers of the person, counts the rows that fit and guesses k, the "
        "crowd that the plan demands for the person",
        chances=False,
    ),
}
DEMAND = "demand"  # names no row, but k
WITNESS = "insider who knows"  # beyond every promise: shown, neither limited nor warned of
GUESS_HEADING = "What crowds tell of k"
GUESS_HEADINGS = ("Attacker", "Guesses k of", "With one guess for all", "Comparison")
UNKNOWN = "makes an attack that this version does not describe"


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
        return (
            percent(self.success)
            if self.success > 0.5
            else f"{percent(self.success)} ({one_in(self.success)})"
        )

    @property
    def is_judged(self) -> bool:
        """Whether both numbers of the comparison are known."""
        return is_number(self.success) and is_number(self.guess)

    @property
    def is_contained(self) -> bool:
        """Whether the attack succeeds no more often than guessing; False if a number is missing."""
        return self.is_judged and self.success <= self.guess * (1 + 1e-9)

    @property
    def result(self) -> str:
        """The comparison as text; with k = 1 for everyone a guess is always right."""
        if not self.is_judged:
            return NOT_STATED
        if self.guess >= 1:
            return "nothing demanded"
        return "no better" if self.is_contained else "better"

    @property
    def tone(self) -> str:
        """How the page colours the comparison."""
        if self.is_judged and self.guess >= 1:
            return "open"
        return "pass" if self.is_contained else "fail"

    @property
    def row(self) -> tuple[str, ...]:
        """The attack as a row for `HEADINGS`."""
        return (
            self.who,
            self.rate if is_number(self.success) else NOT_STATED,
            percent(self.guess),
            self.result,
        )


def attacks(manifest: Manifest) -> list[Attack]:
    """The attacks that name rows, as the manifest lists them; unknown ones keep their names."""
    stated = manifest.get("attacks") or {}
    return [_build_attack(str(name), numbers) for name, numbers in stated.items() if name != DEMAND]


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
        """The attack as a row for `GUESS_HEADINGS`."""
        result = "better" if self.right > self.commonest else "no better"
        return ATTACKERS[DEMAND].who, self._of(self.right), self._of(self.commonest), result

    @property
    def sentences(self) -> str:
        """What the crowds tell, in words."""
        text = (
            "k is private here. Someone who counts the rows that fit a person, and takes a larger "
            f"crowd for a greater k, guesses k right for at most {self._of(self.right)}. "
            f"One guess for everybody is right for {self._of(self.commonest)}."
        )
        if self.ruled_out:
            text += (
                f" For {self._of(self.ruled_out)} fewer rows fit than the greatest k demands: "
                "their k is surely smaller."
            )
        return text

    def _of(self, number: int) -> str:
        share = percent(number / self.people)
        return f"{count(number)} of {count(self.people)} people ({share})"


def demand_guesses(manifest: Manifest) -> DemandGuesses | None:
    """What crowds tell of a private k; None if k is not private or that was not measured."""
    stated = (manifest.get("attacks") or {}).get(DEMAND) or {}
    numbers = [stated.get(name) for name in ("right", "commonest", "ruled_out")]
    people = manifest["privacy"]["records"]
    if not is_number(people) or people < 1 or not all(is_number(number) for number in numbers):
        return None
    return DemandGuesses(int(people), *(int(number) for number in numbers if is_number(number)))


def _build_attack(name: str, numbers: Mapping[str, Any]) -> Attack:
    plain = name.replace("_", " ").replace("-", " ").lower()
    attacker = ATTACKERS.get(plain, Attacker(f"Attack {printable(name)!r}", UNKNOWN))
    above = {
        str(times): _convert_to_float(share)
        for times, share in (numbers.get("above") or {}).items()
    }
    return Attack(
        printable(name),
        attacker,
        _convert_to_float(numbers.get("success")),
        _convert_to_float(numbers.get("promised")),
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
    return [f"Above {printable(each)}/k" for each in times]


def shares(attack: Attack, times: list[str]) -> list[str]:
    """Shares of people above these multiples of 1/k; "-" for an attack without chances."""
    if not attack.attacker.chances:
        return ["-"] * len(times)
    return [percent(attack.above.get(each, math.nan)) for each in times]


def find_strongest_attack(tried: list[Attack]) -> Attack | None:
    """The attack that succeeds most often, of those that a promise may bound."""
    return max(
        (each for each in tried if is_number(each.success) and not each.name.startswith(WITNESS)),
        key=lambda attack: attack.success,
        default=None,
    )


def _parse_multiple(times: str) -> float:
    try:
        return float(times)
    except ValueError:
        return math.inf


def _convert_to_float(number: Any) -> float:
    return float(number) if is_number(number) else math.nan


def build_attack_blocks(manifest: Manifest) -> list[Block]:
    """Success of the attacks, then chances above multiples of 1/k; two tables fit 80 columns."""
    tried = attacks(manifest)
    if not tried:
        return []
    known_of = [Fact(attack.who, attack.attacker.knows) for attack in tried]
    listed = [Block(HEADING, HEADINGS, [attack.row for attack in tried], meanings=known_of)]
    if times := multiples(tried):
        headings = ("Attacker", *multiple_headings(times))
        rows = [(attack.who, *shares(attack, times)) for attack in tried]
        listed.append(Block(CHANCES, headings, rows))
    if (guessed := demand_guesses(manifest)) is not None:
        listed.append(Block(GUESS_HEADING, GUESS_HEADINGS, [guessed.row]))
    return listed


def list_attack_warnings(manifest: Manifest) -> list[str]:
    """Attacks that succeed more often than guessing, for some people or on average."""
    guessed = demand_guesses(manifest)
    risks = [] if guessed is None or not guessed.tells else [guessed.sentences]
    for attack in attacks(manifest):
        if attack.name.startswith(WITNESS):
            continue
        if attack.is_judged and not attack.is_contained:
            risks.append(
                f"{attack.who} names the right row more often than by guessing: "
                f"{percent(attack.success)} instead of {percent(attack.guess)} on average."
            )
        share = attack.above.get("3")
        if attack.attacker.chances and is_number(share) and share > 0:
            risks.append(
                f"For {percent(share)} of the people, {attack.who[:1].lower()}{attack.who[1:]} "
                "gives one row more than three times the probability of a guess."
            )
    return risks
