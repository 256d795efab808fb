"""An uncertain graph, and what an anonymizer made of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InputError
from anon_core.specs.demands import refuse_impossible
from anon_core.specs.graphs import ONE, Knowledge
from anon_core.steps import Step


@dataclass(frozen=True)
class UncertainGraph:
    """Edges that exist independently of each other, and what each vertex demands.

    Attributes
    ----------
    u, v : int32 (m,)
        Ends of each edge, u < v < n; ascending by (u, v), each pair at most once.
    p : int32 (m,)
        Probability that the edge exists, in billionths: 0 <= p <= ONE.
    k : int32 (n,)
        Demanded privacy level of each vertex, 1 <= k <= n.
    knowledge : {"ceiling", "mode", "distribution"}
        What the adversary knows of the degree of a vertex.
    exempt : int
        At most this many vertices may stay below their level: eps n, rounded down.

    References
    ----------
    Xiao, Towards Graph Analytic and Privacy Protection, sections 2.2.1 to 2.2.3.
    """

    u: NDArray[np.int32] = field(repr=False)
    v: NDArray[np.int32] = field(repr=False)
    p: NDArray[np.int32] = field(repr=False)
    k: NDArray[np.int32] = field(repr=False)
    knowledge: Knowledge = "ceiling"
    exempt: int = 0

    @property
    def records(self) -> int:
        """Number of vertices n."""
        return len(self.k)

    @property
    def edges(self) -> int:
        """Number of edges m."""
        return len(self.u)

    def check(self) -> None:
        """Raise InputError where the arrays are no such graph."""
        if not self.u.shape == self.v.shape == self.p.shape == (self.edges,):
            raise InputError("each edge needs two ends and a probability")
        # The codes u n + v below pass 2^31 from some 46,000 vertices on.
        u, v = self.u.astype(np.int64), self.v.astype(np.int64)
        within = (u >= 0) & (u < v) & (v < self.records)
        # v < n makes u n + v a number in base n: rising codes are rising pairs, each once.
        if not (within.all() and (np.diff(u * self.records + v) > 0).all()):
            raise InputError("the edges must be pairs u < v of vertices, ascending, each once")
        # An empty array has no least and no greatest number.
        if self.edges and not 0 <= self.p.min() <= self.p.max() <= ONE:
            raise InputError(f"probabilities must be whole billionths from 0 to {ONE}")
        if self.records and self.k.min() < 1:
            raise InputError("every k must be at least 1")
        if not 0 <= self.exempt <= self.records:
            raise InputError(f"between 0 and {self.records} vertices may stay below their level")

    def refuse_impossible_demands(self) -> None:
        """Raise InfeasibleError where a vertex demands more vertices than there are."""
        refuse_impossible(self.k, self.records)

    def pack_arrays(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the adversary's knowledge and the number of exempt vertices, and the arrays."""
        return {"knowledge": self.knowledge, "exempt": self.exempt}, {
            "u": self.u,
            "v": self.v,
            "p": self.p,
            "k": self.k,
        }

    @classmethod
    def unpack_arrays(
        cls, document: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
    ) -> "UncertainGraph":
        """Return the packed graph."""
        edges = (arrays["u"], arrays["v"], arrays["p"])
        return cls(*edges, arrays["k"], document["knowledge"], document["exempt"])

    def restore_result(
        self, arrays: Mapping[str, NDArray[Any]], steps: tuple[Step, ...], result_step: int
    ) -> "ObfuscatedGraph":
        """Return what an anonymizer made of this graph, from `ObfuscatedGraph.arrays`."""
        return ObfuscatedGraph(self, arrays["u"], arrays["v"], arrays["p"], steps, result_step)


@dataclass(frozen=True)
class ObfuscatedGraph:
    """What an anonymizer made of a graph: its vertices, joined by other edges.

    Attributes
    ----------
    graph : UncertainGraph
    u, v, p : int32 (released edges,)
        As in `UncertainGraph`, but 1 <= p: an edge that cannot exist is not released.
    steps : tuple of Step
    result_step : int
        Number of the step whose result this is; 0 if there are no steps.
    """

    graph: UncertainGraph
    u: NDArray[np.int32] = field(repr=False)
    v: NDArray[np.int32] = field(repr=False)
    p: NDArray[np.int32] = field(repr=False)
    steps: tuple[Step, ...] = ()
    result_step: int = 0

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what `UncertainGraph.restore_result` needs to make this again."""
        return {"u": self.u, "v": self.v, "p": self.p}
