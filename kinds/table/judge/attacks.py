"""Every attacker against one release, as the manifest states them: aggregates only."""

import math
from dataclasses import asdict
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.measures.table.attackers.attacks import Tightest, attack_as_insider, partial_linkage
from anon_core.measures.table.attackers.demand_guesses import guess_demands
from anon_core.measures.table.attackers.law import Law
from anon_core.measures.table.classes import Classes, ReleasedCells
from anon_core.measures.table.crowds import Components, Crowds

_ABOVE = (1, 1.5, 2, 3)  # multiples of 1/k(v)
_AT_ONCE = 2**16  # chances that are Python's numbers at a time
_ROUNDING = 1e-6  # of beliefs: a belief of 1/k(v) is not above it


def build_attack_section(
    released: ReleasedCells,
    classes: Classes,
    components: Components,
    crowds: Crowds,
    tightest: Tightest,
    law: Law | None,
    *,
    private_demand: bool = False,
) -> dict[str, Any]:
    """Return the manifest's section: the chance of each attacker to name a person's own row.

    An insider knows the law that the seats were drawn from, if the vault states one. If k depends
    on something private, "demand" counts the people whose k can be guessed. Who really sits where
    decides no number.
    """
    k = crowds.demanded
    partly = partial_linkage(released, classes)
    # An insider without the law has the belief of greatest entropy; with it, the true chances.
    insider = attack_as_insider(classes, components, tightest) if law is None else law
    of = classes.record_class if law is None else law.kind
    section = {
        "linkage": _summarize_chances(1 / crowds.compatible, k),
        "tightest row": _summarize_chances(insider.tightest[of], k),
        "insider": _summarize_chances(insider.likeliest[of], k),
    }
    if law is not None:
        # `ruled_out` float64 (kinds, others): column j for somebody who knows j + 1 other rows.
        for others, success in enumerate(law.ruled_out.T[: len(k) - 1], start=1):
            section[f"insider who knows {others}"] = _summarize_chances(success[law.kind], k)
    if crowds.people is not None and law is not None:
        section["person"] = _summarize_chances(law.of_person[law.kind], k)
    if partly:  # a table of one quasi-identifier has no part
        of_class = classes.record_class
        some = _summarize_chances(np.mean(list(partly.values()), axis=0)[of_class], k)
        known = {str(size): compute_mean(chance[of_class]) for size, chance in partly.items()}
        section["partial linkage"] = {**some, "known": known}
    if private_demand:
        section["demand"] = asdict(guess_demands(crowds.compatible, k))
    return section


def _summarize_chances(success: NDArray[np.float64], k: NDArray[np.int32]) -> dict[str, Any]:
    times = success * k
    return {
        "success": compute_mean(success),
        "promised": compute_mean(1 / k),
        "above": {
            f"{factor:g}": float((times > factor * (1 + _ROUNDING)).mean()) for factor in _ABOVE
        },
    }


def compute_mean(values: NDArray[np.float64]) -> float:
    """The mean, rounded once, so that the order of the records changes no digit."""
    parts = (values[at : at + _AT_ONCE].tolist() for at in range(0, len(values), _AT_ONCE))
    return math.fsum(chain.from_iterable(parts)) / len(values)
