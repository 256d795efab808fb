"""Join classes until each is diverse, without telling more of a value than the joint class does.

Classes are halved from the whole table down: by quasi-identifiers alone, into halves of as many
classes where that is possible. Two halves are kept apart if both meet the demand. So somebody who
knows every half and every quasi-identifier learns of a class that was kept whole just one thing:
not both of its halves meet the demand. Of halves of the same size this does not tell which one, so
each member's chance of a value stays the share of the value in the class (docs/theory.md, 11).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.groups import hide_group_differences
from anon_core.tables.diverse import DiverseDemand
from anon_core.tables.records import Attribute, BinaryTable

_DRAWS = 2000  # of a class in two halves, to measure what the halves tell
_DRAWN = 2**20  # values of them at most
_FEWEST = 50  # draws that agree with what is known, to measure anything


@dataclass(frozen=True)
class Joined:
    """Classes that meet a demand.

    Attributes
    ----------
    group : int64 (n,)
        Number of each record's class.
    halves : list of (int64 (a,), int64 (b,))
        Records of both halves of each class that was not kept apart.
    """

    group: NDArray[np.int64]
    halves: list[tuple[NDArray[np.int64], NDArray[np.int64]]]


def join_classes(table: BinaryTable, group: NDArray[np.int64], weight: NDArray[np.int32]) -> Joined:
    """Join classes until each meets the table's `diverse`; the whole table must meet it.

    Parameters
    ----------
    table : BinaryTable
    group : int64 (n,)
        Number of each record's class before.
    weight : int32 (f,)
        What a hidden feature costs.
    """
    assert table.diverse is not None
    halves = _Halves(table, group, weight)
    joined, kept_whole = np.empty_like(group), []
    ready, number = [np.arange(int(group.max()) + 1)], 0
    while ready:
        classes = ready.pop()
        if len(classes) > 1:
            parts = halves.split(classes)
            members = [halves.list_members(part) for part in parts]
            if all(table.diverse.meets(part) for part in members):
                # A stack: the first half is halved next, so classes are numbered from the first on.
                ready += parts[::-1]
                continue
            kept_whole.append((members[0], members[1]))
        joined[halves.list_members(classes)] = number
        number += 1
    return Joined(joined, kept_whole)


class _Halves:
    """How classes are halved."""

    def __init__(
        self, table: BinaryTable, group: NDArray[np.int64], weight: NDArray[np.int32]
    ) -> None:
        self._permutation = np.argsort(group, kind="stable")
        self._size = np.bincount(group)
        self._start = np.cumsum(self._size) - self._size
        first = self._permutation[self._start]
        self._hidden = hide_group_differences(table, group)[first]
        self._bits = table.bits[first]
        self._place = [
            _place_levels(codes, attribute)[codes[first]]
            for codes, attribute in zip(table.codes, table.codebook.attributes, strict=True)
        ]
        self._weight = np.zeros(64 * table.codebook.words, dtype=np.int64)
        self._weight[: len(weight)] = weight

    def list_members(self, classes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The records of these classes."""
        size = self._size[classes]
        offset = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
        members: NDArray[np.int64] = self._permutation[
            np.repeat(self._start[classes], size) + offset
        ]
        return members

    def split(self, classes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Cut classes in two along the column by which the two then lose least.

        The first part has as many classes as the greatest power of two below their number: half of
        them if their number is one. Of columns that lose alike the first counts.
        """
        # A power of two: its halves have equally many classes, all the way down.
        cut = 1 << (len(classes) - 1).bit_length() - 1
        best, least = [classes[:cut], classes[cut:]], -1
        for place in self._place:
            order = np.argsort(place[classes], kind="stable")
            parts = [classes[order[:cut]], classes[order[cut:]]]
            loss = sum(self._price(part) * int(self._size[part].sum()) for part in parts)
            if least < 0 or loss < least:
                best, least = parts, loss
        return best

    def _price(self, classes: NDArray[np.int64]) -> int:
        """What a row of these classes loses if they are one."""
        differ = self._bits[classes] ^ self._bits[classes[0]]
        hidden = np.bitwise_or.reduce(self._hidden[classes] | differ, axis=0)
        flags = np.unpackbits(hidden.astype("<u8").view(np.uint8), bitorder="little")
        return int(self._weight[flags.astype(np.bool_)].sum())


def _place_levels(codes: NDArray[np.int32], attribute: Attribute) -> NDArray[np.int64]:
    """Return the order of a column's levels, int64 (levels,): categories by how many have them."""
    levels = attribute.levels
    if attribute.ordinal or attribute.tree is not None:
        return np.arange(levels)
    place = np.empty(levels, dtype=np.int64)
    place[np.argsort(-np.bincount(codes, minlength=levels), kind="stable")] = np.arange(levels)
    return place


def measure_gain(demand: DiverseDemand, joined: Joined) -> dict[str, float]:
    """Measure what the minimality attack gains.

    The attacker knows the program, all quasi-identifiers, every half, and what a class shows. Of
    all ways in which its values may belong to its members, those are left where not both halves
    meet the demand.

    Returns
    -------
    dict of float
        `minimality_gain`: by how much this raises the chance that somebody has some value above the
        share of the value in the class: the most in any class. Halves of one size give 0; of
        others it is estimated from draws, which depend on the counts of the values alone, so the
        figure tells no more than the class. `minimality_unmeasured`: records of classes where too
        few draws agree to tell, a whole number.

    References
    ----------
    Wong et al., Minimality Attack in Privacy Preserving Data Publishing, VLDB 2007.
    """
    # A fixed seed: a rerun states the same figure.
    random, gain, unmeasured = np.random.default_rng(0), 0.0, 0
    for first, second in joined.halves:
        if len(first) == len(second):
            continue
        found = _draw_gain(demand, first, second, random)
        if found is None:
            unmeasured += len(first) + len(second)
        else:
            gain = max(gain, found)
    return {"minimality_gain": gain, "minimality_unmeasured": unmeasured}


def _draw_gain(
    demand: DiverseDemand,
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    random: np.random.Generator,
) -> float | None:
    """The gain in one class; None where too few draws agree."""
    members = np.sort(demand.value[np.concatenate([first, second])])  # so counts alone decide
    present, values = np.unique(members, return_inverse=True)
    draws = min(_DRAWS, _DRAWN // len(values))
    if draws < _FEWEST:
        return None
    drawn = random.permuted(np.tile(values, (draws, 1)), axis=1)[:, : len(first)]
    cells = np.arange(draws)[:, None] * len(present) + drawn
    counts = np.bincount(cells.ravel(), minlength=draws * len(present)).reshape(draws, -1)
    number = np.bincount(values)
    agree = ~(demand.meet(counts, present) & demand.meet(number - counts, present))
    if agree.sum() < _FEWEST:
        return None
    held = counts[agree].mean(axis=0)
    share = number / len(values)
    chances = held / len(first), (number - held) / len(second)
    return float(max((chance - share).max() for chance in chances))
