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

    @property
    def most(self) -> int:
        """Steps at most."""
        return 1 + self.rounds

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
            unchanged = list_present_edges(
                self.start._replace(p=round_source_chances(self.start.p))
            )
            return {"margin": 0.0}, Attempt(self.hiding, unchanged)
        graph = self.hiding.graph
        if steps[-1].figures["below"] <= graph.exempt or len(steps) == self.most:
            return None
        margin = _MARGIN * _WIDENS ** (len(steps) - 1)
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
