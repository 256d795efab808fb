"""What each column must weigh where a plan says what its release is for.

Written from the definition, apart from the code that the release was made with: pairs of values are
counted in dictionaries.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from anon_core.errors import InputError

_PARTS = 10
_FEW = 20


def compute_weights(columns: Mapping[str, NDArray[Any]], target: NDArray[Any]) -> dict[str, float]:
    """Compute the weight of each column from how much it tells of a target.

    Parameters
    ----------
    columns : mapping of str to ndarray
        float64 with nan for missing, or texts with None; all of one length.
    target : ndarray
        The same of the column to predict.

    Raises
    ------
    InputError
        No column tells anything.
    """
    groups = _group(target)
    told = {name: _informational_correlation(_group(of), groups) for name, of in columns.items()}
    if not any(told.values()):
        raise InputError("no column tells anything of the one to predict")
    most = max(told.values())
    return {name: round(each / most, 2) for name, each in told.items()}


def _group(values: NDArray[Any]) -> list[Hashable]:
    """Texts as they are, a number by the tenth that its rank is in; what is rare is one group."""
    groups = _list_groups(values)
    times = Counter(groups)
    # In a tuple no text of the source can be the name of the rare group.
    return ["rare values" if times[each] < _FEW else (each,) for each in groups]


def _list_groups(values: NDArray[Any]) -> list[Hashable]:
    if values.dtype.kind != "f":
        return list(values)
    numbers = values.tolist()
    ascending = sorted(number for number in numbers if not math.isnan(number))
    return [
        # The first place of equal numbers: they all fall into one tenth.
        None if math.isnan(number) else _PARTS * bisect_left(ascending, number) // len(ascending)
        for number in numbers
    ]


def _informational_correlation(one: Sequence[Hashable], other: Sequence[Hashable]) -> float:
    """Of two columns, less what chance gives: half a nat for each degree of freedom."""
    n = len(one)
    margins = Counter(one), Counter(other)
    pairs = Counter(zip(one, other, strict=True))
    terms = [count * math.log(count) for count in pairs.values()]
    terms += [-count * math.log(count) for margin in margins for count in margin.values()]
    nats = math.fsum([*terms, n * math.log(n)])
    freedom = (len(margins[0]) - 1) * (len(margins[1]) - 1)
    told = (nats - freedom / 2) / n
    return math.sqrt(1 - math.exp(-2 * told)) if told > 0 else 0.0
