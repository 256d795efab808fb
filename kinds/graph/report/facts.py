"""Labelled numbers of a released graph, read from its manifest."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    against_limit,
    attack_limits,
    three_risks,
)

HIDING, KEPT, ATTACKS = "Hiding in numbers", "The graph in numbers", "Attackers in numbers"
TRIANGLES, CHANGED = "Triangles in numbers", "Changes in numbers"
SIDE_HEADINGS = ("Of the graph", "Source", "Release")
Shown = Callable[[Any], str]
HOPS = {
    "1": "joined by an edge",
    "2": "2 edges apart",
    "3": "3 edges apart",
    "4 or more": "4 or more apart",
    "no path": "no path",
}
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
        below = "not counted" if self.below is None else f"{count(self.below)} of {count(self.of)}"
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
        Fact(
            "Below their k without changes",
            count(manifest["protection"]["below_before"]),
            "if the source itself were published under random keys",
        ),
        Fact("Allowed below", count(privacy["exempt"]), "eps of the plan, times the vertices"),
        Fact("Least", digits(among["least"]), "the vertex that hides worst hides among so many"),
        Fact("Median", digits(among["median"]), "half of the vertices hide among no more"),
        Fact("Greatest", digits(among["greatest"])),
        Fact(
            "One vertex is likelier than 1 in k",
            percent(manifest["protection"]["likelier"]),
            "for so many of the vertices; those below their k are among them",
        ),
    ]


class Side(NamedTuple):
    """A number of the source and of the release."""

    what: str
    before: str
    after: str


SIDES = (
    ("Edges that may exist", "edges", count),
    ("Edges on average", "expected_edges", count),
    ("Vertices without an edge", "isolated", count),
    ("Expected degree, average", "degree", digits),
    ("Length of a path between connected vertices", "path_length", digits),
    ("Chance that two vertices are connected", "connected", percent),
)
TRIANGLE_SIDES = (
    ("Triangles on average", "triangles", count),
    ("Standard deviation of their number", "triangles_deviation", digits),
    ("Transitivity: paths of two edges that close, of all", "clustering", percent),
)


def sides(manifest: Manifest) -> list[Side]:
    """The graph before and after."""
    return _list_sides(manifest, SIDES)


def triangle_sides(manifest: Manifest) -> list[Side]:
    """Triangles before and after; the manifest of an older release lacks the deviation."""
    return _list_sides(manifest, TRIANGLE_SIDES)


def _list_sides(manifest: Manifest, rows: Sequence[tuple[str, str, Shown]]) -> list[Side]:
    utility = manifest["utility"]
    return [
        Side(what, show(utility[key]), show(utility[f"{key}_released"]))
        for what, key, show in rows
        if key in utility
    ]


def change_facts(manifest: Manifest) -> list[Fact]:
    """How far the release is from the source, vertex by vertex and pair by pair."""
    utility = manifest["utility"]
    low, high = utility["discrepancy_interval"]
    same = utility.get("same_edges")  # older releases do not tell
    stayed = Fact(
        "Edges that are the same in source and release",
        percent(same),
        "of the edges of either; rounded down, so only 100 % is all",
    )
    return [
        *([] if same is None else [stayed]),
        Fact(
            "Change of an expected degree",
            digits(utility["degree_error"]),
            "average over all vertices, up or down; rounded up",
        ),
        Fact(
            "Discrepancy",
            format_points(utility["discrepancy"]),
            "change of the chance that two vertices are connected, up or down, average over all "
            f"pairs; from {format_points(low)} to {format_points(high)}, by "
            f"{count(utility['worlds'])} sampled "
            "worlds",
        ),
    ]


def format_points(change: float) -> str:
    """A change of a chance, in percentage points."""
    return f"{100 * change:.1f} points"


def list_hop_discrepancies(manifest: Manifest) -> dict[str, float]:
    """Discrepancy by distance in the source; distances of few pairs are left out."""
    stated: Mapping[str, float] = manifest["utility"]["discrepancy_by_hops"]
    return {HOPS[name]: found for name, found in stated.items()}


# ---------------------------------------------------------------- the three risks


def list_risks(manifest: Manifest) -> list[Risk]:
    """Singling out, linkability, inference: the three risks of WP216."""
    return three_risks(
        "vertex",
        "an edge",
        _list_singling_out(manifest),
        _list_linkability(manifest),
        _list_inference(manifest),
        found="key",
    )


def _list_singling_out(manifest: Manifest) -> Iterator[Figure]:
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


def _list_linkability(manifest: Manifest) -> Iterator[Figure]:
    limits = attack_limits(manifest)
    for attack in attacks(manifest):
        what = f"Chance of a right guess, on average, for who knows {attack.name}"
        yield against_limit(what, attack, attack.success <= attack.guess, limits)
    yield Figure("Attackers who know neighbours or edges", NOT_MEASURED, "nothing", NO_LIMIT)
    yield Figure("Other releases of the same vertices", NOT_MEASURED, "nothing", NO_LIMIT)


def _list_inference(manifest: Manifest) -> Iterator[Figure]:
    share = manifest["protection"]["unchanged"]
    what = "Released edges with the probability that they have in the source"
    yield Figure(what, f"up to {percent(share)}", "nothing", NO_LIMIT)
