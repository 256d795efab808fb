"""The k of each record, resolved from what the plan states."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anon_core.errors import InfeasibleError, InputError
from anon_core.specs.demands import MOST_K, Demand
from anon_core.tables.records import BinaryTable


def resolve_demands(
    demand: Demand, stays: NDArray[np.bool_], values: NDArray[Any] | None
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Give every record its k.

    Parameters
    ----------
    demand : Demand
    stays : bool (records,)
        The records that may be released at all.
    values : ndarray (records,) or None
        The source column: float64 with nan (column), or object of str with None (by).

    Returns
    -------
    k : int32 (records,)
    kept : bool (records,)
        `stays` without the records whose demand cannot be met.

    Raises
    ------
    InputError
        k is missing, not a whole number or below 1, or a group has neither a level nor a default.
    InfeasibleError
        A record demands more rows than there are and the plan refuses that, or fewer than 2
        records are left.
    """
    k = list_stated_k(demand, len(stays), values)
    kept = stays.copy()
    # Fewer records are left after each turn, so a k that they met may now be beyond them. Their
    # number only falls, so no dropped record could have stayed.
    while (over := kept & (k > kept.sum())).any():
        if demand.infeasible == "refuse":
            raise InfeasibleError(
                f"{int(over.sum())} of {int(kept.sum())} records demand k > {int(kept.sum())}; "
                "lower k or drop them with [privacy] infeasible = 'drop'"
            )
        kept &= ~over
    if kept.sum() < 2:
        raise InfeasibleError(
            "fewer than 2 records are left to release; lower k or keep records with missing values"
        )
    return k.astype(np.int32), kept


def of_people(table: BinaryTable, person: NDArray[np.int32]) -> BinaryTable:
    """Return the table of people who own several records, person int32 (n,).

    All records of a person demand the greatest k among them.
    """
    greatest = np.zeros(int(person.max()) + 1, dtype=table.k.dtype)
    np.maximum.at(greatest, person, table.k)
    return replace(table, k=greatest[person], person=person)


def list_stated_k(demand: Demand, records: int, values: NDArray[Any] | None) -> NDArray[np.int64]:
    """Return the k that the plan states of each record, int64 (records,): `resolve_demands`."""
    if demand.constant is not None:
        return np.full(records, demand.constant, dtype=np.int64)
    if demand.uniform is not None:
        # Named, since `default_rng` may change its generator. Drawn for all records: dropping some
        # changes nobody's k.
        generator = np.random.Generator(np.random.PCG64(demand.seed))
        return generator.integers(demand.uniform[0], demand.uniform[1] + 1, size=records)
    if values is None or len(values) != records:
        raise InputError(
            f"k is read from column {demand.source_column!r}, which was not given for every record"
        )
    if demand.column is not None:
        return _of_column(demand.column, values)
    # 0 marks a record without a level and without a default; it is refused below.
    k = np.array(
        [demand.levels.get(value, demand.default or 0) for value in values.tolist()], dtype=np.int64
    )
    if (k < 1).any():
        raise InputError(
            f"column {demand.by!r}: {int((k < 1).sum())} of {records} records "
            "are of a group that levels do not name; name it or give a default"
        )
    return k


def _of_column(name: str, values: NDArray[np.float64]) -> NDArray[np.int64]:
    whole = np.isfinite(values) & (values >= 1) & (values == np.floor(values))
    wrong = ~(whole & (values <= MOST_K))
    if wrong.any():
        raise InputError(
            f"column {name!r}: {int(wrong.sum())} of {len(values)} records "
            "hold no whole k >= 1; fix the source"
        )
    return values.astype(np.int64)
