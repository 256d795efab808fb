"""An adversary who sifts edges: keeps those whose probabilities look like the source's.

Degrees hide vertices only as long as added edges look like true ones. A source often has few
decimals, or no small probability. Edges that differ can then be dropped, and what remains is nearly
the source. The rules need nothing but the release.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.graph.degrees import Degrees, UncertainEdges
from anon_core.measures.graph.posteriors import Posteriors, compute_posteriors
from anon_core.specs.graphs import ONE, Knowledge

_DECIMALS = range(1, 6)
_LEAST = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True)
class Sifted:
    """What the adversary concludes from the edges that a rule keeps.

    Attributes
    ----------
    rule : str
    kept : int
        Edges.
    found : Posteriors
    """

    rule: str
    kept: int
    found: Posteriors = field(repr=False)


def sift_edges(source: Degrees, released: UncertainEdges, knowledge: Knowledge) -> list[Sifted]:
    """Try each rule that drops some edges and not all, and first the release as it is.

    Parameters
    ----------
    source : Degrees
        What the adversary knows of each vertex.
    released : UncertainEdges
        Vertex i of the source is vertex i of the release.
    knowledge : {"ceiling", "mode", "distribution"}
    """
    tried = []
    for rule, kept in _list_rules(released.p):
        edges = UncertainEdges(
            released.u[kept], released.v[kept], released.p[kept], released.vertices
        )
        found = compute_posteriors(source, Degrees.of(edges), knowledge)
        tried.append(Sifted(rule, int(np.count_nonzero(kept)), found))
    return tried


def _list_rules(p: NDArray[np.int32]) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield different sets of edges; of rules that keep the same edges the first."""
    rules = {
        "all edges": np.ones(len(p), dtype=np.bool_),
        **{
            f"at most {decimals} decimal{'s' * (decimals > 1)}": p % (ONE // 10**decimals) == 0
            for decimals in _DECIMALS
        },
        **{f"at least {least}": p >= least * ONE for least in _LEAST},
    }
    seen: list[NDArray[np.bool_]] = []
    for rule, kept in rules.items():
        if rule == "all edges" or (kept.any() and not any((kept == each).all() for each in seen)):
            seen.append(kept)
            yield rule, kept
