"""Checkpoints of the adaptive method: the cover of the last iteration, and that of the best."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.adaptive.schedule import best_of, next_epsilon
from anon_core.anonymizers.adaptive.settings import Settings
from anon_core.errors import InputError
from anon_core.steps import State, Step
from anon_core.tables.records import BinaryTable

LATEST, BEST = "latest", "best"  # int32 (2, m): ends of edges, as records of the table
_FIGURES = ("utility", "weighted_utility", "cover_edges")


def check_steps(settings: Settings, steps: tuple[Step, ...]) -> None:
    """Refuse the steps of a checkpoint that these settings cannot have reached."""
    numbers = [step.number for step in steps]
    stated = all(name in step.figures for step in steps for name in _FIGURES)
    if not steps or numbers != list(range(1, len(steps) + 1)) or not stated:
        raise InputError(
            "the checkpoint does not count its iterations from 1; start anew without it"
        )
    if any(next_epsilon(settings, steps[:count]) is None for count in range(1, len(steps))):
        raise InputError(
            "the checkpoint goes on where these settings stop; use the settings it was made with"
        )


def check_covers(state: State, table: BinaryTable) -> None:
    """Refuse the arrays of a checkpoint that hold no covers of this table."""
    for name, step in ((LATEST, state.steps[-1]), (BEST, best_of(state.steps))):
        ends = state.arrays.get(name)
        edges = step.figures["cover_edges"]
        if ends is None or not _is_cover(ends, table.k - 1) or ends.shape[1] != edges:
            raise InputError("the checkpoint holds no cover of this table; start anew without it")


def _is_cover(ends: NDArray[Any], b: NDArray[np.int32]) -> bool:
    """Return whether edges are a simple graph of these vertices with b(v) edges or more at each."""
    n = len(b)
    if ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype != np.int32:
        return False
    u, v = ends
    # With u < v, the least end is a u and the greatest one a v.
    if len(u) and not (u.min() >= 0 and v.max() < n and (u < v).all()):
        return False
    pairs = np.sort(u * np.int64(n) + v)
    if (pairs[1:] == pairs[:-1]).any():
        return False
    return bool((np.bincount(u, minlength=n) + np.bincount(v, minlength=n) >= b).all())


def rename_vertices(
    u: NDArray[np.int32], v: NDArray[np.int32], names: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return edges, int32 (2, m), between the vertices of these names; the lower end first."""
    short = names.astype(np.int32)
    ends = np.empty((2, len(u)), dtype=np.int32)
    one, other = short[u], short[v]
    np.minimum(one, other, out=ends[0])
    np.maximum(one, other, out=ends[1])
    return ends
