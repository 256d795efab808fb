"""The settings of obfuscation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from anon_core.errors import InputError
from anon_core.promise import Promise

Selection = Literal[
    "planned", "degree", "relevance", "uniqueness", "random", "anonymity", "utility", "betweenness"
]
Perturbation = Literal["towards half", "undirected"]
_Start = Literal["graph", "representative"]


@dataclass(frozen=True, kw_only=True)
class ObfuscateSettings:
    """See `Obfuscate`.

    Attributes
    ----------
    selection : {"planned", "degree", "relevance", "uniqueness", ...}
        "planned": a plan moves those expected degrees that make most rare degrees common for what
        they cost, and edges drawn at random carry it out. What other edges there are stays as it
        was. All others are Algorithms 5 and 7 of the paper, for comparison: nearly every edge
        changes at random, with the least sigma that suffices; see `selection.weights`.
    perturbation : {"towards half", "undirected"}
        Of all but "planned": p + (1 - 2p) r, or p + r or p - r; see `perturbation.perturbed`.
    start : {"graph", "representative"}
        What is changed. "representative": a certain graph with about the same expected degrees
        (Rep-An), for comparison.
    trials : int
        Attempts of each step; the best one stands.
    rounds : int
        Of "planned": plans at most. A search that has hidden all but 1 % of the vertices after 20
        of them starts anew, seven times at most.
    c, most_c : float
        Of all but "planned": candidates for each edge, at least 1. c rises by 1 up to most_c as
        long as no sigma suffices.
    q : float
        Of all but "planned": white noise, the share of candidates whose change is drawn evenly.
    worlds : int
        Of "relevance", "anonymity" and "utility": sampled worlds.
    """

    selection: Selection = "planned"
    perturbation: Perturbation = "towards half"
    start: _Start = "graph"
    trials: int = 3
    rounds: int = 40
    c: float = 2.0
    most_c: float = 6.0
    q: float = 0.01
    worlds: int = 1000

    kind: ClassVar[str] = "graph"
    promise: ClassVar[Promise] = Promise(("obfuscated",))
    engines: ClassVar[Mapping[str, str]] = {"local": ""}

    def __post_init__(self) -> None:
        choices = {"selection": Selection, "perturbation": Perturbation, "start": _Start}
        for name, choice in choices.items():
            if getattr(self, name) not in get_args(choice):
                words = ", ".join(map(repr, get_args(choice)))
                raise InputError(f"{name} must be one of {words}")
        for name in ("trials", "rounds", "worlds"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1")
        if not 1 <= self.c <= self.most_c:
            raise InputError("c must be a number from 1 to most_c")
        if not 0 <= self.q <= 1:
            raise InputError("q must be a number from 0 to 1")
