"""Every attacker against one release, as the manifest states them: aggregates only."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.table.attacks import insider, order_hits, partial_linkage, tightest_row
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import Components, Crowds
from anon_core.measures.table.law import Law

ABOVE = (1, 1.5, 2, 3)  # multiples of 1/k(v)
ROUNDING = 1e-6  # of beliefs: a belief of 1/k(v) is not above it


def attacks(
    released: ReleasedCells,
    classes: Classes,
    components: Components,
    crowds: Crowds,
    seat: NDArray[np.int64],
    law: Law | None,
) -> dict[str, Any]:
    """Return the manifest's section: the chance of each attacker to name a person's own row.

    `seat` is the row of each record; it pairs all records and rows. An insider knows the law that
    it was drawn from, if there is one.
    """
    k = crowds.demanded
    partly = partial_linkage(released, classes)
    by_order = max(order_hits(seat).values(), key=lambda right: int(right.sum()))
    section = {
        "linkage": _chances(1 / crowds.compatible, k),
        "tightest row": _chances(tightest_row(released, classes, seat), k),
        "insider": _insider(classes, components, seat, k)
        if law is None
        else _chances(law.likeliest, k),
        "order": {**_chances(by_order.astype(np.float64), k), "right": int(by_order.sum())},
    }
    if partly:  # a table of one quasi-identifier has no part
        some = _chances(np.mean(list(partly.values()), axis=0), k)
        section["partial linkage"] = {
            **some,
            "known": {str(size): _mean(success) for size, success in partly.items()},
        }
    return section


def _insider(
    classes: Classes, components: Components, seat: NDArray[np.int64], k: NDArray[np.int32]
) -> dict[str, Any]:
    belief = insider(classes, components, seat)
    return {
        **_chances(belief.likeliest, k),
        "success": _mean(belief.right),
        "believed": _mean(belief.likeliest),
    }


def _chances(success: NDArray[np.float64], k: NDArray[np.int32]) -> dict[str, Any]:
    times = success * k
    return {
        "success": _mean(success),
        "promised": _mean(1 / k),
        "above": {
            f"{factor:g}": float((times > factor * (1 + ROUNDING)).mean()) for factor in ABOVE
        },
    }


def _mean(values: NDArray[np.float64]) -> float:
    """The mean, rounded once, so that the order of the records changes no digit."""
    return math.fsum(values.tolist()) / len(values)
