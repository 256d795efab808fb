"""Algorithm 2 of Epasto et al.: facility location, small clusters closed, then merged."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.smooth.counts_kernels import ItemRows
from anon_core.anonymizers.smooth.facility_kernels import (
    SCALE,
    assign_to_nearest,
    close_small,
    compute_hamming_distance,
    compute_opening_costs,
    greedy_stars,
    sort_cluster_members,
)
from anon_core.anonymizers.smooth.neighbours import nearest_by_distance
from anon_core.anonymizers.smooth.settings import Merge

BESIDE_K = 24  # neighbours listed beyond the k nearest


def group_by_facility(rows: ItemRows, items: int, a: float, merge: Merge) -> NDArray[np.int32]:
    """Group records by facility location with a lower bound; returns int32 (n,).

    The facility location problem is solved greedily (Jain, Mahdian and Saberi, 2002) on lists of
    near records, not by the paper's 1.488-approximation: no factor is claimed.
    """
    share = Fraction(a).limit_denominator(1 << SCALE)
    factor = int(2 * share / (1 - share) * (1 << SCALE))
    near = nearest_by_distance(rows, items, int(rows.k.max(initial=1)) + BESIDE_K)
    opening = np.empty(len(rows.k), dtype=np.int64)
    distance = np.empty(near.shape, dtype=np.int64)
    compute_opening_costs(opening, distance, factor, rows, near)
    centres = greedy_stars(opening, distance, near)
    group = np.empty(len(rows.k), dtype=np.int32)
    assign_to_nearest(group, centres, items, rows)
    close_small(group, int(share * (1 << SCALE)), centres, items, rows)
    return merge_clusters(rows, group, centres, merge)


def merge_clusters(
    rows: ItemRows, group: NDArray[np.int32], centres: NDArray[np.int64], merge: Merge
) -> NDArray[np.int32]:
    """Cut clusters of 2k and more, then merge those below k, as they come or the nearest first.

    What is left at the end takes records of a cluster that can spare them, else joins one.
    """
    done: list[list[int]] = []
    small: list[tuple[int, list[int]]] = []
    for c in np.unique(group).tolist():
        inside = np.flatnonzero(group == c)
        need = int(rows.k[inside].max())
        if parts := len(inside) // need:
            ordered = sort_cluster_members(inside, need, rows)
            done += [part.tolist() for part in np.split(ordered, np.arange(1, parts) * need)]
        else:
            small.append((int(centres[c]), inside.tolist()))
    begun: list[int] = []
    centre = -1
    while small:
        at = 0
        if begun and merge == "nearest":
            at = min(
                range(len(small)),
                key=lambda i: (compute_hamming_distance(rows, centre, small[i][0]), i),
            )
        other, members = small.pop(at)
        centre = centre if begun else other
        begun += members
        if len(begun) >= rows.k[begun].max():
            done.append(begun)
            begun = []
    if begun:
        _place_last(rows, done, begun)
    out = np.empty(len(group), dtype=np.int32)
    for number, members in enumerate(done):
        out[members] = number
    return out


def _place_last(rows: ItemRows, done: list[list[int]], begun: list[int]) -> None:
    """Complete the last cluster."""
    missing = int(rows.k[begun].max()) - len(begun)
    for members in done:
        if len(members) - missing >= rows.k[members].max():
            spare = members[-missing:]
            if rows.k[spare].max() <= len(begun) + missing:
                del members[-missing:]
                done.append(begun + spare)
                return
    while len(begun) < rows.k[begun].max():
        begun += done.pop()
    done.append(begun)
