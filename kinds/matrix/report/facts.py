"""Labelled numbers of a released matrix, read from its manifest."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from reports.facts import Fact, Manifest
from reports.quantities import count, is_number, one_in, percent
from reports.words import (
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

CLASSES, KEPT, ATTACKS = "Classes in numbers", "Entries in numbers", "Attackers in numbers"
ATTACK_HEADINGS = ("Attacker with", "Finds it", "Guessing", "Above 1/k")


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
        """Cells for `ATTACK_HEADINGS`."""
        return self.name, one_in(self.success), one_in(self.guess), percent(self.above)


def attacks(manifest: Manifest) -> list[Attack]:
    """The attackers in the order of what they know; without those that nobody has items for."""
    return [
        Attack(name, each["success"], each["promised"], each["above"], each["tried"], each["of"])
        for name, each in manifest["attacks"].items()
        if each["tried"]
    ]


def class_facts(manifest: Manifest) -> list[Fact]:
    """Numbers and sizes of the classes."""
    classes, protection = manifest["protection"]["classes"], manifest["protection"]
    return [
        Fact("Users", count(manifest["privacy"]["records"]), "a released row for each"),
        Fact("Classes", count(classes["number"]), "different rows"),
        Fact("Smallest class", count(classes["least"]), "users with the rarest row"),
        Fact("Median class", count(classes["median"]), "half of the classes are no larger"),
        Fact("Largest class", count(classes["greatest"]), "users with the most common row"),
        Fact("Empty rows", count(protection["empty_rows"]), "users without any released item"),
    ]


def entry_facts(manifest: Manifest) -> list[Fact]:
    """What the release keeps of the source."""
    utility = manifest["utility"]
    return [
        Fact(
            "Jaccard similarity",
            percent(utility["jaccard"]),
            "entries in source and release, of those in either; rounded down",
        ),
        Fact("Missing", percent(utility["suppressed"]), "of the source's entries; rounded up"),
        Fact("Added", percent(utility["created"]), "false entries, in entries of the source"),
        Fact("False", percent(utility["false"]), "of the released entries; rounded up"),
        Fact("Entries of the source", count(utility["entries"])),
        Fact("Entries released", count(utility["entries_released"])),
        Fact("Items of the source", count(utility["items"])),
        Fact("Items released", count(utility["items_released"]), "items that some row has"),
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
    number = privacy["classes_below_k"]
    result = WITHIN if number == 0 else ABOVE
    what = "Users whose row equals too few rows"
    of = f"{count(number)} of {count(privacy['records'])}"
    yield Figure(what, of, "0: the promise", NO_DEMAND if privacy["k_max"] < 2 else result)
    if privacy["k_min"] < 2:
        alone = f"{count(privacy['unprotected'])} of {count(privacy['records'])}"
        yield Figure("Users with k = 1, whom no promise protects", alone, "0", ABOVE)


def _list_linkability(manifest: Manifest) -> Iterator[Figure]:
    limits = attack_limits(manifest)
    for attack in attacks(manifest):
        what = f"Chance to find a user's row by {attack.name}, on average; 0 if no row shows them"
        yield against_limit(what, attack, attack.above == 0, limits)
    yield Figure("Other releases of the same users", NOT_MEASURED, "nothing", NO_LIMIT)


def _list_inference(manifest: Manifest) -> Iterator[Figure]:
    protection = manifest["protection"]
    for key, what in (
        ("unanimous_entries", "Released entries that are true for the whole class"),
        ("unanimous_rows", "Users with an item that their whole class has"),
    ):
        share = protection.get(key)
        stated = percent(share) if is_number(share) else NOT_MEASURED
        yield Figure(what, f"up to {stated}" if is_number(share) else stated, "nothing", NO_LIMIT)
