"""The edges and demands of the source as the audit computes them."""

from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from anon_core.measures.graph.degrees import UncertainEdges
from anon_core.specs.graphs import ONE
from crowdcover.kinds.demands import demands_again
from crowdcover.kinds.graph.pipeline.read import Read
from crowdcover.kinds.graph.plan.sections import GraphPlan, Rule


@dataclass(frozen=True)
class SourceGraph:
    """The private graph: names and k of its vertices, one edge a pair, and who may be exempt."""

    names: pl.Series = field(repr=False)
    k: NDArray[np.int32] = field(repr=False)
    edges: UncertainEdges
    exempt: int

    @classmethod
    def of(cls, read: Read, plan: GraphPlan) -> "SourceGraph":
        """From one reading of the source."""
        n = len(read.vertices)
        if isinstance(plan.k, int):
            k = np.array([plan.k] * n, dtype=np.int32)
        else:
            assert read.demands is not None
            k = demands_again(read.vertices, read.demands, "vertices")
        # The makers multiply Fractions. Another arithmetic does not share their faults.
        exempt = Decimal(plan.eps.numerator) * n // Decimal(plan.eps.denominator)
        return cls(read.vertices, k, _join_listed_edges(read, plan.both_ways, n), int(exempt))

    @property
    def vertices(self) -> int:
        """Number of vertices n."""
        return len(self.k)


def _join_listed_edges(read: Read, rule: Rule, n: int) -> UncertainEdges:
    """Each pair of vertices once, its directions joined by the rule."""
    listed = pl.DataFrame({"u": read.u, "v": read.v, "p": read.p})
    ends = (pl.min_horizontal("u", "v").alias("low"), pl.max_horizontal("u", "v").alias("high"))
    # A group has one or two rows. Of one, least = most, so its mean is itself: (2p + 1) // 2 = p.
    least, most, times = pl.col("p").min(), pl.col("p").max(), pl.len()
    joined = {
        "refuse": most,
        "max": most,
        "mean": (least + most + 1) // 2,
        # 1 - (1 - p)(1 - q), to the nearest billionth
        "union": pl.when(times == 1)
        .then(most)
        .otherwise(ONE - ((ONE - least) * (ONE - most) + ONE // 2) // ONE),
    }[rule]
    pairs = listed.group_by(*ends).agg(joined.alias("p")).sort("low", "high")
    u, v, p = (pairs[name].to_numpy().astype(np.int32) for name in ("low", "high", "p"))
    return UncertainEdges(u, v, p, n)
