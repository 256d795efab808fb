"""Uncertain graphs: at least all but the exempt vertices hide among k by their degree."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Data
from anon_core.anonymizers.uncertain_graph.degrees import Edges
from anon_core.anonymizers.uncertain_graph.hiding import Hiding
from anon_core.anonymizers.uncertain_graph.perturbation import Perturbation
from anon_core.anonymizers.uncertain_graph.search import Turn, kept_step, most_turns, next_turn
from anon_core.anonymizers.uncertain_graph.selection import Selection, weights
from anon_core.anonymizers.uncertain_graph.trial import Attempt, Ground
from anon_core.errors import InfeasibleError, InputError
from anon_core.graphs.records import ObfuscatedGraph, UncertainGraph
from anon_core.promise import Promise
from anon_core.steps import Observer, State, Step

ARRAYS = ("u", "v", "p")  # int32: the best graph so far, the arrays of a checkpoint


@dataclass(frozen=True, kw_only=True)
class Obfuscate:
    """Probabilities change at random until at most `exempt` vertices are found by their degree.

    A vertex v is hidden iff H(Y) >= log2 k(v). Y says which vertex of the release is v, for an
    adversary who knows of v's degree what `UncertainGraph.knowledge` says.

    Attributes
    ----------
    selection : {"degree", "uniqueness", "random"}
        Q(v), in proportion to which vertices get uncertainty; see `selection.weights`.
    perturbation : {"towards half", "undirected"}
        See `perturbation.perturbed`.
    trials : int
        Attempts at each sigma; the one with the fewest vertices below stands.
    c : float
        Candidates for each edge, at least 1. It rises by 1 as long as no sigma suffices.
    most_c : float
        The greatest c that is tried.
    q : float
        White noise: the share of candidates whose change is drawn evenly.

    The figures of a step are `sigma`, `c`, `below` (vertices less hidden than they demand),
    `reached k` (the greatest k that all but the exempt vertices have), `degree error` (mean
    absolute change of an expected degree), `added degree` (in parts of the mean expected degree)
    and `edges`.

    Notes
    -----
    All chance comes from `order`: its hash seeds numpy's PCG64. The same order makes the same
    bytes. Nobody who lacks it can repeat the run, unless the graph has so few vertices (fewer than
    35) that all orders can be tried.

    References
    ----------
    Xiao, Towards Graph Analytic and Privacy Protection, section 4.2; Boldi, Bonchi, Gionis and
    Tassa, Injecting Uncertainty in Graphs for Identity Obfuscation, 2012.
    """

    selection: Selection = "degree"
    perturbation: Perturbation = "towards half"
    trials: int = 3
    c: float = 2.0
    most_c: float = 6.0
    q: float = 0.01

    kind: ClassVar[str] = "graph"
    data: ClassVar[type[Data]] = UncertainGraph
    promise: ClassVar[Promise] = Promise(("obfuscated",))
    engines: ClassVar[Mapping[str, str]] = {"local": ""}

    def __post_init__(self) -> None:
        for name, choice in (("selection", Selection), ("perturbation", Perturbation)):
            if getattr(self, name) not in get_args(choice):
                words = ", ".join(map(repr, get_args(choice)))
                raise InputError(f"{name} must be one of {words}")
        if self.trials < 1:
            raise InputError("trials must be at least 1")
        if not 1 <= self.c <= self.most_c:
            raise InputError("c must be a number from 1 to most_c")
        if not 0 <= self.q <= 1:
            raise InputError("q must be a number from 0 to 1")

    def admit(self, data: UncertainGraph) -> None:
        """Refuse arrays that are no graph, and demands beyond the number of vertices."""
        data.check()
        data.refuse_impossible_demands()

    def memory(self, data: UncertainGraph) -> int:
        """Return the bytes held at most beyond the input."""
        return int(300 * self.most_c * data.edges + 200 * data.records) + 2**20

    def anonymize(
        self,
        data: UncertainGraph,
        *,
        order: NDArray[np.int64] | None = None,
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
        observer.expects(most_turns(self.c, self.most_c))
        seed = _seed(np.arange(data.records) if order is None else order)
        steps = [] if resume is None else list(resume.steps)
        best = None if resume is None else _checked(resume, data)
        ground = self._ground(data)
        while turn := next_turn(steps, data.exempt, self.c, self.most_c):
            attempt = self._best(ground, turn, [*seed, len(steps) + 1])
            figures = {"sigma": turn.sigma, "c": turn.c, **attempt.figures}
            steps.append(Step(len(steps) + 1, figures))
            if best is None or kept_step(steps, data.exempt) == len(steps):
                best = attempt.edges
            observer.advanced(data.records)
            arrays = dict(zip(ARRAYS, best[1:], strict=True))
            observer.stepped(State(arrays, tuple(steps)))
        kept = kept_step(steps, data.exempt)
        if best is None or not (kept and ground.hiding.accepts(best)):
            raise _out_of_reach(steps, data)
        return ObfuscatedGraph(data, *best[1:], tuple(steps), kept)

    def _ground(self, data: UncertainGraph) -> Ground:
        start = Edges(data.records, data.u, data.v, data.p)
        weight = weights(start, self.selection)
        excluded = np.zeros(data.records, dtype=np.bool_)
        excluded[np.argsort(-weight, kind="stable")[: -(-data.exempt // 2)]] = True
        return Ground(Hiding.of(data), start, weight, excluded, self.q, self.perturbation)

    def _best(self, ground: Ground, turn: Turn, seed: list[int]) -> Attempt:
        """Return the attempt with the fewest vertices below, of those with the least error."""
        if turn.sigma == 0:
            return ground.unchanged()
        streams = [np.random.Generator(np.random.PCG64([*seed, t])) for t in range(self.trials)]
        attempts = [ground.attempt(turn.sigma, turn.c, stream) for stream in streams]
        return min(attempts, key=lambda each: (not each.accepted or each.error, each.below))


def _seed(order: NDArray[np.int64]) -> list[int]:
    """Return the hash of an order as whole numbers."""
    digest = hashlib.sha256(np.ascontiguousarray(order, dtype="<i8").tobytes()).digest()
    return [int.from_bytes(digest[i : i + 4], "little") for i in range(0, len(digest), 4)]


def _checked(state: State, data: UncertainGraph) -> Edges:
    """Return the graph of a checkpoint; refuse one that is none of these vertices."""
    arrays = [state.arrays.get(name) for name in ARRAYS]
    try:
        u, v, p = (array for array in arrays if array is not None and array.dtype == np.int32)
        UncertainGraph(u, v, p, data.k).check()
    except ValueError as error:
        raise InputError(
            "the checkpoint holds no graph of these vertices; start anew without it"
        ) from error
    return Edges(data.records, u, v, p)


def _out_of_reach(steps: list[Step], data: UncertainGraph) -> InfeasibleError:
    fewest = min(int(step.figures["below"]) for step in steps)
    greatest = max(int(step.figures["reached k"]) for step in steps)
    whom = f"all but {data.exempt} vertices" if data.exempt else "every vertex"
    return InfeasibleError(
        f"{fewest} of {data.records} vertices stay below the k that they demand, {data.exempt} "
        f"may; the greatest k that {whom} reached is {greatest}; lower k, raise eps or most_c"
    )
