"""Expected degrees are moved as planned, and planned anew from what that made."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from anon_core.anonymizers.uncertain_graph.attempt import Attempt, list_present_edges
from anon_core.anonymizers.uncertain_graph.degrees import GraphEdges, degrees_of
from anon_core.anonymizers.uncertain_graph.hiding import Hiding
from anon_core.anonymizers.uncertain_graph.perturbation import grain_of, round_source_chances
from anon_core.anonymizers.uncertain_graph.planning.planning import (
    Means,
    build_hiding_targets,
    plan_degree_moves,
)
from anon_core.anonymizers.uncertain_graph.planning.rewiring import rewire_edges
from anon_core.anonymizers.uncertain_graph.sampled import choose_best_attempt
from anon_core.specs.graphs import ONE
from anon_core.steps import Step

_MARGIN = 0.01  # bits beyond log2 k that the first plan aims at: edges do not do all of a plan
_WIDENS = 1.25  # times: the margin of each further step
# A search may end with a vertex or two that only far wider margins hide, at the cost of all others,
# where another draw of edges hides all within some 14 rounds. So it starts anew from the source.
_STARTS_ANEW = 7
_ROUNDS_ANEW = 20  # after which it does
_FEW_MISSING = 0.01  # of the vertices: if more are below by then, wider margins are what helps


@dataclass(frozen=True, kw_only=True)
class Planned:
    """Rounds of a plan and of changed edges; see `Obfuscate` for the settings.

    Attributes
    ----------
    hiding : Hiding
    start : GraphEdges
        The graph that is changed: the source, or a representative instance.
    trials : int
    rounds : int
    """

    hiding: Hiding
    start: GraphEdges = field(repr=False)
    trials: int
    rounds: int

    def next(
        self, steps: Sequence[Step], edges: GraphEdges | None, seed: Sequence[int]
    ) -> tuple[dict[str, float], Attempt] | None:
        """Return the margin of the next step and its best attempt; None: the search ended.

        Parameters
        ----------
        steps : sequence of Step
        edges : GraphEdges
            Where the last of them arrived.
        seed : sequence of int
        """
        if edges is None:
            return {"margin": 0.0}, Attempt(self.hiding, self._list_unchanged_edges())
        graph = self.hiding.graph
        if steps[-1].figures["below"] <= graph.exempt:
            return None
        turn = self._count_rounds(steps)
        if turn == self.rounds:
            return None
        edges = edges if turn else self._list_unchanged_edges()
        margin = _MARGIN * _WIDENS**turn
        degrees = degrees_of(edges)
        asked = build_hiding_targets(
            self.hiding, self.hiding.compute_levels_of(degrees), degrees, margin
        )
        means = Means(self.hiding.expected / ONE, edges.degree_billionths() / ONE)
        shift = plan_degree_moves(asked, degrees, means, int(graph.k.max()))
        streams = [np.random.Generator(np.random.PCG64([*seed, t])) for t in range(self.trials)]
        grain = grain_of(graph.p)
        made = [list_present_edges(rewire_edges(edges, shift, grain, stream)) for stream in streams]
        return {"margin": margin}, choose_best_attempt(
            [Attempt(self.hiding, each) for each in made]
        )

    def _count_rounds(self, steps: Sequence[Step]) -> int:
        """Rounds since the search last started: a function of the steps' figures alone."""
        done, whole = len(steps) - 1, min(self.rounds, _ROUNDS_ANEW)
        graph = self.hiding.graph
        missing = min(step.figures["below"] for step in steps[: whole + 1]) - graph.exempt
        if done < whole or missing > max(1.0, _FEW_MISSING * graph.records):
            return done
        return done - whole * min(done // whole, _STARTS_ANEW)

    def _list_unchanged_edges(self) -> GraphEdges:
        return list_present_edges(self.start._replace(p=round_source_chances(self.start.p)))


def count_most_steps(rounds: int) -> int:
    """Steps of a search at most: the graph as it is, and the rounds of all starts."""
    return 1 + _STARTS_ANEW * min(rounds, _ROUNDS_ANEW) + rounds
