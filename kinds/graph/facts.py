"""Labelled numbers of a released graph, read from its manifest."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from reports.facts import Fact, Manifest
from reports.quantities import count, digits, one_in, percent
from reports.words import (
    ABOVE,
    NO_DEMAND,
    NO_LIMIT,
    NOT_MEASURED,
    WITHIN,
    Figure,
    Risk,
    three_risks,
)

HIDING, KEPT, ATTACKS = "Hiding in numbers", "The graph in numbers", "Attackers in numbers"
ATTACK_HEADINGS = ("Attacker knows", "Best guess is right", "Guessing", "Below k")


class Attack(NamedTuple):
    """What an attacker reaches who knows this of a vertex and takes the likeliest one."""

    name: str
    success: Any
    guess: Any
    below: Any
    of: int

    @property
    def row(self) -> tuple[str, str, str, str]:
        """Cells for `ATTACK_HEADINGS`."""
        below = f"{count(self.below)} of {count(self.of)}"
        return self.name, one_in(self.success), one_in(self.guess), below


def attacks(manifest: Manifest) -> list[Attack]:
    """The attackers in the order of what they know."""
    return [
        Attack(
            name, each["success"], each["promised"], each["below"], manifest["privacy"]["records"]
        )
        for name, each in manifest["attacks"].items()
    ]


def hiding_facts(manifest: Manifest) -> list[Fact]:
    """Among how many the vertices hide from the attacker of the plan."""
    among, privacy = manifest["protection"]["hides_among"], manifest["privacy"]
    return [
        Fact("Vertices", count(privacy["records"])),
        Fact("Below their k", count(privacy["below"]), "hide among fewer than they demand"),
        Fact("Allowed below", count(privacy["exempt"]), "eps of the plan, times the vertices"),
        Fact("Least", digits(among["least"]), "the vertex that hides worst hides among so many"),
        Fact("Median", digits(among["median"]), "half of the vertices hide among no more"),
        Fact("Greatest", digits(among["greatest"])),
        Fact(
            "One vertex is likelier than 1 in k",
            percent(manifest["protection"]["likelier"]),
            "of the vertices; their entropy is that of k all the same",
        ),
    ]


def graph_facts(manifest: Manifest) -> list[Fact]:
    """What the release keeps of the source."""
    utility = manifest["utility"]
    return [
        Fact("Edges of the source", count(utility["edges"])),
        Fact("Edges released", count(utility["edges_released"])),
        Fact("Expected edges of the source", count(utility["edges_expected"]), "on average exist"),
        Fact("Expected edges released", count(utility["edges_expected_released"])),
        Fact("Expected degree, source", digits(utility["degree"]), "average over all vertices"),
        Fact("Expected degree, release", digits(utility["degree_released"])),
        Fact(
            "Change of an expected degree",
            digits(utility["degree_error"]),
            "average over all vertices, up or down; rounded up",
        ),
        Fact("Vertices without an edge, source", count(utility["isolated"])),
        Fact("Vertices without an edge, release", count(utility["isolated_released"])),
    ]


# ---------------------------------------------------------------- the three risks


def risks(manifest: Manifest) -> list[Risk]:
    """Singling out, linkability, inference: the three risks of WP216."""
    return three_risks(
        "vertex",
        "an edge",
        _singling_out(manifest),
        _linkability(manifest),
        _inference(manifest),
        found="key",
    )


def _singling_out(manifest: Manifest) -> Iterator[Figure]:
    privacy = manifest["privacy"]
    below, exempt, all_of = privacy["below"], privacy["exempt"], count(privacy["records"])
    result = WITHIN if below <= exempt else ABOVE
    against = f"{count(exempt)}: the promise"
    what = "Vertices that hide among fewer than they demand"
    of = f"{count(below)} of {all_of}"
    yield Figure(what, of, against, NO_DEMAND if privacy["k_max"] < 2 else result)
    if privacy["k_min"] < 2:
        alone = f"{count(privacy['unprotected'])} of {all_of}"
        yield Figure("Vertices with k = 1, which no promise protects", alone, "0", ABOVE)


def _linkability(manifest: Manifest) -> Iterator[Figure]:
    limits: Mapping[str, Any] = {
        each["about"]: each["required"]
        for each in manifest.get("checks", [])
        if each["measure"] == "attack success"
    }
    for attack in attacks(manifest):
        what = f"Chance that the best guess by {attack.name} is right, on average"
        limit = limits.get(attack.name)
        if limit is not None:
            result = WITHIN if attack.success <= limit else ABOVE
            yield Figure(what, one_in(attack.success), f"{one_in(limit)}: the plan", result)
        else:
            result = WITHIN if attack.success <= attack.guess else ABOVE
            yield Figure(what, one_in(attack.success), f"{one_in(attack.guess)}: guessing", result)
    yield Figure("Attackers who know neighbours or edges", NOT_MEASURED, "nothing", NO_LIMIT)
    yield Figure("Other releases of the same vertices", NOT_MEASURED, "nothing", NO_LIMIT)


def _inference(manifest: Manifest) -> Iterator[Figure]:
    share = manifest["protection"]["unchanged"]
    what = "Released edges with the probability that they have in the source"
    yield Figure(what, f"up to {percent(share)}", "nothing", NO_LIMIT)
