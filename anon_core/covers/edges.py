"""Edges between records, as searches and covers list them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Edges:
    """An undirected simple graph: u[e] < v[e], weight[e] >= 0, each pair at most once.

    Attributes
    ----------
    u, v : int32 (m,)
    weight : int32 (m,)
    """

    u: NDArray[np.int32]
    v: NDArray[np.int32]
    weight: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.u)
