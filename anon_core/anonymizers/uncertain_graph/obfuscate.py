"""Uncertain graphs: at least all but the exempt vertices hide among k by their degree."""

import hashlib
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Data
from anon_core.anonymizers.uncertain_graph.degrees import GraphEdges
from anon_core.anonymizers.uncertain_graph.hiding import Hiding
from anon_core.anonymizers.uncertain_graph.planning.planned import Planned, count_most_steps
from anon_core.anonymizers.uncertain_graph.sampled import Sampled
from anon_core.anonymizers.uncertain_graph.search import find_best_step, most_turns
from anon_core.anonymizers.uncertain_graph.selection import (
    compute_vertex_weights,
    list_edges,
)
from anon_core.anonymizers.uncertain_graph.settings import ObfuscateSettings
from anon_core.anonymizers.uncertain_graph.worlds.representative import choose_representative
from anon_core.errors import InfeasibleError, InputError, LimitError
from anon_core.graphs.records import ObfuscatedGraph, UncertainGraph
from anon_core.specs.graphs import ONE
from anon_core.steps import Observer, State, Step

_ARRAYS = ("u", "v", "p")  # int32: the graph that the next step needs, the arrays of a checkpoint
_MOST_EDGES = 2**16  # of a vertex: the auditor counts the degrees of a greater one less exactly


@dataclass(frozen=True, kw_only=True)
class Obfuscate(ObfuscateSettings):
    """Probabilities change until at most `exempt` vertices can be found by their degree.

    A vertex v is hidden iff H(Y) >= log2 k(v). Y says which vertex of the release is v, for an
    adversary who knows of v's degree what `UncertainGraph.knowledge` says. A graph that does so as
    it is stays as it is. Probabilities are released in whole millionths;
    those that change have no more decimals than the source (`perturbation.grain_of`).

    The figures of a step are `below` (vertices less hidden than they demand), `reached k` (the
    greatest k that all but the exempt vertices have), `degree error` (mean absolute change of an
    expected degree), `added degree` (in parts of the mean expected degree), `edges`, and `margin`
    (bits beyond log2 k that were planned) or `sigma` and `c`.

    Notes
    -----
    All chance comes from `tie_order`: its hash seeds numpy's PCG64. The same order makes the same
    bytes on any number of threads. Nobody who lacks it can repeat the run, unless the graph has
    fewer than 35 vertices: then there are fewer than 2^128 orders to try.

    The promise is about degrees alone. Whoever knows probabilities of edges exactly may find them.

    References
    ----------
    Xiao, Towards Graph Analytic and Privacy Protection, section 4.2; Boldi, Bonchi, Gionis and
    Tassa, Injecting Uncertainty in Graphs for Identity Obfuscation, 2012. "planned" is ours.
    """

    data: ClassVar[type[Data]] = UncertainGraph

    def admit(self, data: UncertainGraph) -> None:
        """Refuse arrays that are no graph, and demands beyond the number of vertices."""
        data.check()
        data.refuse_impossible_demands()
        ends = np.concatenate([data.u, data.v])
        most = int(np.bincount(ends, minlength=1).max())
        if most > _MOST_EDGES:
            raise LimitError(
                f"a vertex has {most} edges; degrees of at most {_MOST_EDGES} are counted exactly"
            )

    def memory(self, data: UncertainGraph) -> int:
        """Return the bytes held at most beyond the input."""
        factor = 1.0 if self.selection == "planned" else self.most_c
        return int(400 * factor * data.edges + 1500 * data.records) + 2**20

    def anonymize(
        self,
        data: UncertainGraph,
        *,
        tie_order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> ObfuscatedGraph:
        """Search the least change that hides enough vertices; see `Anonymizer.anonymize`.

        Raises
        ------
        InfeasibleError
            No attempt hides enough vertices.
        """
        self.admit(data)
        observer = observer or Observer()
        observer.expects(self._most)
        seed = _compute_seed(np.arange(data.records) if tie_order is None else tie_order)
        steps = [] if resume is None else list(resume.steps)
        edges = None if resume is None else _restore_graph(resume, data)
        search = self._search(data, seed)
        while found := search.next(steps, edges, [*seed, len(steps) + 1]):
            stated, attempt = found
            steps.append(Step(len(steps) + 1, {**stated, **attempt.figures}))
            if edges is None or find_best_step(steps, data.exempt) in (0, len(steps)):
                edges = attempt.edges
            observer.report_records(data.records)
            observer.on_step(State(dict(zip(_ARRAYS, edges[1:], strict=True)), tuple(steps)))
        kept = find_best_step(steps, data.exempt)
        if edges is None or not (kept and search.hiding.accepts(edges)):
            raise _out_of_reach(steps, data)
        return ObfuscatedGraph(data, *edges[1:], tuple(steps), kept)

    @property
    def _most(self) -> int:
        if self.selection == "planned":
            return count_most_steps(self.rounds)
        return most_turns(self.c, self.most_c)

    def _search(self, data: UncertainGraph, seed: list[int]) -> Planned | Sampled:
        start, hiding = data, Hiding.of(data)
        if self.start == "representative":
            kept = choose_representative(data, seed[0])
            certain = np.full(np.count_nonzero(kept), ONE, dtype=np.int32)
            start = UncertainGraph(data.u[kept], data.v[kept], certain, data.k, exempt=data.exempt)
        if self.selection == "planned":
            return Planned(
                hiding=hiding, start=list_edges(start), trials=self.trials, rounds=self.rounds
            )
        return Sampled(
            hiding=hiding,
            start=list_edges(start),
            weights=compute_vertex_weights(start, self.selection, self.worlds, seed[0]),
            perturbation=self.perturbation,
            trials=self.trials,
            c=self.c,
            most_c=self.most_c,
            q=self.q,
        )


def _compute_seed(tie_order: NDArray[np.int64]) -> list[int]:
    """Return the hash of an order as whole numbers."""
    digest = hashlib.sha256(np.ascontiguousarray(tie_order, dtype="<i8").tobytes()).digest()
    return [int.from_bytes(digest[i : i + 4], "little") for i in range(0, len(digest), 4)]


def _restore_graph(state: State, data: UncertainGraph) -> GraphEdges:
    """Return the graph of a checkpoint; refuse one that is none of these vertices."""
    arrays = [state.arrays.get(name) for name in _ARRAYS]
    try:
        u, v, p = (array for array in arrays if array is not None and array.dtype == np.int32)
        UncertainGraph(u, v, p, data.k).check()
    except ValueError as error:
        raise InputError(
            "the checkpoint holds no graph of these vertices; start anew without it"
        ) from error
    return GraphEdges(data.records, u, v, p)


def _out_of_reach(steps: list[Step], data: UncertainGraph) -> InfeasibleError:
    fewest = min(int(step.figures["below"]) for step in steps)
    greatest = max(int(step.figures["reached k"]) for step in steps)
    whom = f"all but {data.exempt} vertices" if data.exempt else "every vertex"
    return InfeasibleError(
        f"{fewest} of {data.records} vertices stay below the k that they demand, {data.exempt} "
        f"may; the greatest k that {whom} reached is {greatest}; lower k or raise eps"
    )
