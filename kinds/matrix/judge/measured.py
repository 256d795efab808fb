"""The numbers that an audit measures, as the manifest states them: aggregates only.

Classes, sizes and linkage follow from the source and the released bytes. How many entries are true
also follows from the class in which each record sits. That is no secret that the promise relies on:
the rows of a class are identical, and no number depends on which of them is whose. Such numbers are
published as rounded shares all the same; the exact counts stay in the vault.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.matrix.classes import RowClasses
from anon_core.measures.matrix.linkage import ItemLinkage
from anon_core.measures.matrix.smoothness import Smoothness
from crowdcover.kinds.judge.rounding import DIGITS, ROUNDING, round_down, round_up


@dataclass(frozen=True)
class Measured:
    """All numbers of a release.

    Attributes
    ----------
    k : int32 (n,)
        Demanded level of each record.
    class_of : int64 (n,)
        Class of each record's row, -1 where it has none.
    classes : RowClasses
    smooth : Smoothness
    items : int
        Items of the source.
    released_items : int
    linkage : dict of ItemLinkage
        By number of known items.
    direct : dict of dict of int
        By column and kind of direct identifier: rows with an item that looks like it.
    """

    k: NDArray[np.int32] = field(repr=False)
    class_of: NDArray[np.int64] = field(repr=False)
    classes: RowClasses
    smooth: Smoothness
    items: int
    released_items: int
    linkage: dict[int, ItemLinkage]
    direct: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def size_of(self) -> NDArray[np.int64]:
        """Rows in the class of each record, 0 where it has no row; int64 (n,)."""
        # Class -1, of a record without a row, takes the 0 at the end.
        sizes = np.concatenate([self.classes.sizes, [0]])
        return np.asarray(sizes[self.class_of], dtype=np.int64)

    @property
    def below(self) -> int:
        """Records whose class is smaller than they demand."""
        return int(np.count_nonzero(self.size_of < self.k))

    def sections(self) -> dict[str, dict[str, Any]]:
        """Return all numbers by section of the manifest."""
        return {
            "privacy": {
                "records": len(self.k),
                "k_min": int(self.k.min()),
                "k_max": int(self.k.max()),
                "unprotected": int(np.count_nonzero(self.k < 2)),
                "classes_below_k": self.below,
                "minorities": self.smooth.broken,
            },
            "utility": self._utility(),
            "protection": self._protection(),
            "attacks": {
                _format_known_items(items): self._attack(each)
                for items, each in self.linkage.items()
            },
        }

    def _utility(self) -> dict[str, Any]:
        smooth, entries = self.smooth, self.smooth.entries
        return {
            "jaccard": round_down(smooth.jaccard),
            "suppressed": _round_share_up(smooth.suppression_count, entries),
            "created": _round_share_up(smooth.false_entries, entries),
            "false": _round_share_up(smooth.false_entries, self.classes.entries),
            "entries": entries,
            "entries_released": self.classes.entries,
            "items": self.items,
            "items_released": self.released_items,
        }

    def _protection(self) -> dict[str, Any]:
        sizes, unanimous = self.classes.sizes, self.smooth.unanimous
        empty = self.classes.lengths == 0
        # Classes with an item that all members hold: each person known to be there holds it.
        whose = np.zeros(self.classes.number, dtype=np.bool_)
        whose[self.classes.of_pair[unanimous]] = True
        return {
            "classes": {
                "number": self.classes.number,
                "least": int(sizes.min()),
                # A size that occurs, not the mean of two.
                "median": int(np.quantile(sizes, 0.5, method="lower")),
                "greatest": int(sizes.max()),
            },
            "empty_rows": int(sizes[empty].sum()),
            "unanimous_entries": _round_share_up(
                int(self.smooth.members[unanimous].sum()), self.classes.entries
            ),
            "unanimous_rows": _round_share_up(int(sizes[whose].sum()), len(self.k)),
            "direct_identifiers": self.direct,
        }

    def _attack(self, tried: ItemLinkage) -> dict[str, Any]:
        chance, k = tried.chance, self.k[tried.record]
        above = int(np.count_nonzero(chance * k > 1 + ROUNDING))
        number = len(chance)
        return {
            "success": _compute_mean(chance),
            "promised": _compute_mean(1 / k),
            "above": above / number if number else None,
            "tried": number,
            "of": tried.of,
        }


def round_step(step: Mapping[str, Any]) -> dict[str, Any]:
    """What is published of a step: its number and time, and shares rounded like those measured."""
    plain, worse = ("number", "seconds", "published"), ("suppressed", "created")
    return {
        name: value if name in plain else (round_up if name in worse else round_down)(value)
        for name, value in step.items()
        if name in plain or isinstance(value, float)
    }


def _format_known_items(items: int) -> str:
    return f"{items} known item{'s' * (items != 1)}"


def _round_share_up(part: int, whole: int) -> float:
    """A share, rounded up: a release is not told to be truer than it is."""
    # In whole numbers: a float quotient may fall on the wrong side of a multiple.
    return -(-part * DIGITS // whole) / DIGITS if whole else 0.0


def _compute_mean(values: NDArray[np.float64]) -> float | None:
    """The mean, rounded once, so that the order of the records changes no digit."""
    return math.fsum(values.tolist()) / len(values) if len(values) else None
