"""The k of each record, computed from the plan's words for the audit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError, InputError
from anon_core.specs.demands import MOST_K, Demand


def compute_demands(
    demand: Demand, stays: NDArray[np.bool_], values: NDArray[Any] | None
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Give every record its k, and find which records are released.

    Parameters
    ----------
    demand : Demand
    stays : bool (records,)
        The records that the rules for missing values leave in.
    values : ndarray (records,) or None
        The source column that k is read from: float64 with nan, or object of str with None.

    Returns
    -------
    k : int32 (records,)
    released : bool (records,)
        The largest set of records in which none demands more rows than there are records.

    Raises
    ------
    InputError
        k cannot be read for every record.
    InfeasibleError
        The plan refuses a demand that cannot be met, or fewer than 2 records are left.
    """
    k = _list_stated_k(demand, len(stays), values)
    rising = np.sort(k[stays])
    # The m records of least k can hide among each other iff the greatest of these k is at most m.
    sizes = np.arange(1, len(rising) + 1)
    most = int(sizes[rising <= sizes].max(initial=0))
    if most < len(rising) and demand.infeasible == "refuse":
        raise InfeasibleError("some records demand more rows than there are records")
    if most < 2:
        raise InfeasibleError("fewer than 2 records can be released")
    return k.astype(np.int32), stays & (k <= most)


def _list_stated_k(demand: Demand, records: int, values: NDArray[Any] | None) -> NDArray[np.int64]:
    if demand.constant is not None:
        return np.full(records, demand.constant, dtype=np.int64)
    if demand.uniform is not None:
        low, high = demand.uniform
        draws = np.random.Generator(np.random.PCG64(demand.seed))
        # Drawn for every source record: which of them are released changes no demand.
        return draws.integers(low, high, size=records, endpoint=True)
    if values is None or len(values) != records:
        raise InputError(f"the source column {demand.source_column!r} of k has no value per record")
    if demand.column is not None:
        # 0 marks what is no demand; nan, which is missing, fails the comparison and gets it.
        stated = [int(k) if k >= 1 and k % 1 == 0 else 0 for k in values.tolist()]
    else:
        stated = [demand.levels.get(group, demand.default or 0) for group in values.tolist()]
    wrong = sum(not 1 <= k <= MOST_K for k in stated)
    if wrong:
        raise InputError(
            f"column {demand.source_column!r} gives no k for {wrong} of {records} records"
        )
    return np.array(stated, dtype=np.int64)
