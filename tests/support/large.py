"""Tables of hundreds of records, and what a call holds in memory."""

import tracemalloc

import numpy as np

from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding


def big_table(n, levels, k):
    rng = np.random.default_rng(2)
    specs = [ColumnSpec(name=f"c{a}", kind="categorical") for a in range(4)]
    specs.append(ColumnSpec(name="age", kind="numeric", encoding="ordinal"))
    columns = {f"c{a}": rng.integers(0, levels, n).astype(str).astype(object) for a in range(4)}
    columns["age"] = rng.integers(0, 80, n).astype(float)
    return encoding.encode(encoding.fit(specs, columns), columns, np.full(n, k))


def traced(work):
    """What some work gives, and the bytes that it held at most."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
