"""Smooth k-anonymity: equal rows of what at least half of a group holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from anon_core.anonymizers.base import Data
from anon_core.anonymizers.smooth.counts import figures, released_items
from anon_core.anonymizers.smooth.counts_kernels import Rows, fingerprints, taken
from anon_core.anonymizers.smooth.matching import matched
from anon_core.anonymizers.smooth.neighbours import neighbours
from anon_core.anonymizers.smooth.sweeps import annealed, dissolved, swept
from anon_core.errors import InputError
from anon_core.matrices.records import GroupedMatrix, SparseMatrix
from anon_core.promise import Promise
from anon_core.steps import Observer, State, Step

Method = Literal["matching"]
GROUP = "group"  # int32 (n,): each record's group, the one array of a checkpoint


@dataclass(frozen=True, kw_only=True)
class Smooth:
    """Groups of at least k records; each row gets the items that half of its group holds.

    An item is in the rows of a group iff 2 c >= s, s = size of the group, c = members that hold
    it. A group has at least the greatest k of its members. Measured is the Jaccard similarity of
    source and release, (1 - suppressed) / (1 + created), both in parts of the source's entries.

    Attributes
    ----------
    method : {"matching"}
        "matching": pairs of records, then of groups, join by least loss of sum c^2 / s until they
        have k records; then records move or swap as long as the similarity rises.
    sweeps : int
        How often each record may move or swap at most; 0: never.
    annealing : int
        Sweeps before those in which records move at random, also where that lowers the similarity,
        ever less; 0: none. 200 of them raise it further where rows are long.

    The figures of a step are `jaccard`, `suppressed`, `created`, `groups` and `moves`.

    References
    ----------
    Epasto, Esfandiari, Mirrokni, Munoz Medina and Vassilvitskii, Smooth Anonymity for Sparse
    Graphs, 2023, sections 3 and 5. The default method is ours.
    """

    method: Method = "matching"
    sweeps: int = 8
    annealing: int = 0

    kind: ClassVar[str] = "matrix"
    data: ClassVar[type[Data]] = SparseMatrix
    promise: ClassVar[Promise] = Promise(("equivalence classes", "smooth majority"))
    engines: ClassVar[Mapping[str, str]] = {"local": ""}

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise InputError("method must be one of " + ", ".join(map(repr, get_args(Method))))
        if self.sweeps < 0:
            raise InputError("sweeps must be 0 or a number of sweeps")
        if self.annealing < 0:
            raise InputError("annealing must be 0 or a number of sweeps")

    def admit(self, data: SparseMatrix) -> None:
        """Refuse arrays that are no matrix, and demands that none meets."""
        data.check()
        data.refuse_impossible_demands()

    def memory(self, data: SparseMatrix) -> int:
        """Return the bytes held at most beyond the input."""
        return 600 * data.records + 60 * data.entries + 200 * data.items + 2**20

    def anonymize(
        self,
        data: SparseMatrix,
        *,
        order: NDArray[np.int64] | None = None,
        observer: Observer | None = None,
        resume: State | None = None,
    ) -> GroupedMatrix:
        """Group the records and give each group its majority; see `Anonymizer.anonymize`."""
        self.admit(data)
        observer = observer or Observer()
        most = 1 + self.annealing + self.sweeps
        observer.expects(most)
        given = Rows(data.indptr, data.indices, data.k)
        order = np.arange(data.records) if order is None else order
        place = order[np.argsort(fingerprints(given)[order], kind="stable")]
        rows = taken(given, place)
        near = neighbours(rows, data.items)
        steps: list[Step] = []

        def stepped(group: NDArray[np.int32], moves: int) -> None:
            steps.append(Step(len(steps) + 1, {**figures(rows, data.items, group), "moves": moves}))
            found = np.empty_like(group)
            found[place] = group
            observer.advanced(data.records)
            observer.stepped(State({GROUP: found}, tuple(steps)))

        if resume is None:
            group = dissolved(rows, data.items, near, matched(rows, data.items, near))
            stepped(group, data.records)
        else:
            group = _checked(resume, data, most)[place]
            steps += resume.steps
        while len(steps) <= self.annealing:
            group, moves = annealed(rows, data.items, near, group, len(steps), self.annealing)
            stepped(group, moves)
        # A sweep that changed nothing is the last.
        while len(steps) < most and (
            len(steps) == 1 + self.annealing or steps[-1].figures["moves"]
        ):
            group, moves = swept(rows, data.items, near, group)
            stepped(group, moves)
        found = np.empty_like(group)
        found[place] = group
        indptr, indices = released_items(given, data.items, found)
        return GroupedMatrix(data, found, indptr, indices, tuple(steps), len(steps))


def _checked(state: State, data: SparseMatrix, most: int) -> NDArray[np.int32]:
    """Return the groups of a checkpoint; refuse one that is none of this matrix."""
    group = state.arrays.get(GROUP)
    if (
        not 0 < len(state.steps) <= most
        or group is None
        or group.dtype != np.int32
        or group.shape != data.k.shape
        or group.min(initial=0) < 0
        or (np.bincount(group)[group] < data.k).any()
    ):
        raise InputError("the checkpoint holds no groups of this matrix; start anew without it")
    return group
