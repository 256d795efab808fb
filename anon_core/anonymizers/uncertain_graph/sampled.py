"""Candidates are drawn and perturbed at random, with the least sigma: Algorithms 5 and 7."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from anon_core.anonymizers.uncertain_graph.attempt import (
    Attempt,
    join_edges,
    list_present_edges,
    select_edges,
)
from anon_core.anonymizers.uncertain_graph.candidates import draw_candidates
from anon_core.anonymizers.uncertain_graph.degrees import GraphEdges
from anon_core.anonymizers.uncertain_graph.hiding import Hiding
from anon_core.anonymizers.uncertain_graph.perturbation import (
    grain_of,
    perturb_probabilities,
    round_source_chances,
    spread_of,
)
from anon_core.anonymizers.uncertain_graph.search import most_turns, next_turn
from anon_core.anonymizers.uncertain_graph.selection import SelectionWeights
from anon_core.anonymizers.uncertain_graph.settings import Perturbation
from anon_core.steps import Step


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """Attempts at one sigma after the other; see `Obfuscate` for the settings.

    Attributes
    ----------
    hiding : Hiding
    start : GraphEdges
        The graph that is perturbed: the source, or a representative instance.
    weights : SelectionWeights
    perturbation : {"towards half", "undirected"}
    trials : int
    c, most_c, q : float
    """

    hiding: Hiding
    start: GraphEdges = field(repr=False)
    weights: SelectionWeights = field(repr=False)
    perturbation: Perturbation
    trials: int
    c: float
    most_c: float
    q: float

    @property
    def most(self) -> int:
        """Steps at most."""
        return most_turns(self.c, self.most_c)

    def next(
        self, steps: Sequence[Step], _edges: GraphEdges | None, seed: Sequence[int]
    ) -> tuple[dict[str, float], Attempt] | None:
        """Return sigma and c of the next step, and its best attempt; None: the search ended."""
        turn = next_turn(steps, self.hiding.graph.exempt, self.c, self.most_c)
        if turn is None:
            return None
        if turn.sigma == 0:
            unchanged = list_present_edges(
                self.start._replace(p=round_source_chances(self.start.p))
            )
            return turn._asdict(), Attempt(self.hiding, unchanged)
        # A stream for each trial: none depends on how much the others draw.
        streams = [np.random.Generator(np.random.PCG64([*seed, t])) for t in range(self.trials)]
        attempts = [self.attempt(turn.sigma, turn.c, stream) for stream in streams]
        return turn._asdict(), choose_best_attempt(attempts)

    def attempt(self, sigma: float, c: float, stream: np.random.Generator) -> Attempt:
        """Perturb candidates with deviation sigma on average: one pass of lines 8 to 31."""
        inside, added = draw_candidates(
            self.start, self.weights.sampled, self.weights.excluded, c, stream
        )
        both = join_edges(select_edges(self.start, inside), added)
        spread = spread_of(both, self.weights.sampled, sigma)
        grain = grain_of(self.hiding.graph.p)
        p = perturb_probabilities(both, spread, self.q, self.perturbation, grain, stream)
        changed = both._replace(p=p)
        outside = select_edges(self.start, ~inside)
        outside = outside._replace(p=round_source_chances(outside.p))
        return Attempt(self.hiding, list_present_edges(join_edges(outside, changed)))


def choose_best_attempt(attempts: Sequence[Attempt]) -> Attempt:
    """Return the accepted attempt with the least error, or else that with the least missing."""
    return min(
        attempts,
        key=lambda each: (
            not each.is_acceptable,
            each.error if each.is_acceptable else each.shortfall,
        ),
    )
