"""Tables drawn by seed: an ordered column, a set and a flag; what their rows lose by definition."""

import numpy as np

from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding


def drawn(records, k, seed=0, levels=9):
    """Draw a `BinaryTable` whose records all demand k; levels: of the ordered column."""
    rng = np.random.default_rng(seed)
    return with_ages(rng.integers(0, levels, records), k, rng)


def with_ages(ages, k, rng):
    """Draw the other two columns beside these ages; k: of all records, or of each."""
    records = len(ages)
    columns = {
        "age": np.array(ages, dtype=np.float64),
        "city": np.array([str(v) for v in rng.integers(0, 4, records)], dtype=object),
        "sex": np.array([str(v) for v in rng.integers(0, 2, records)], dtype=object),
    }
    specs = [
        ColumnSpec(name="age", kind="numeric", encoding="ordinal", bins=None),
        ColumnSpec(name="city", kind="categorical"),
        ColumnSpec(name="sex", kind="binary", weight=0.5),
    ]
    k = np.broadcast_to(np.array(k, dtype=np.int32), records).copy()
    return encoding.encode(encoding.fit(specs, columns, 1, None), columns, k)


def clustered(records, k, columns=6, seed=1):
    """Draw a `BinaryTable` of 40 kinds of people, common and rare; every fourth cell is another."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(3, 12, columns)
    kinds = (rng.random((40, columns)) * levels).astype(int)
    kind = (rng.random(records) ** 2 * 40).astype(int)
    other = (rng.random((records, columns)) ** 2 * levels).astype(int)
    x = np.where(rng.random((records, columns)) < 0.75, kinds[kind], other)
    specs = [
        ColumnSpec(name=str(c), kind="numeric", encoding="ordinal", bins=None)
        if c < 2
        else ColumnSpec(name=str(c), kind="categorical")
        for c in range(columns)
    ]
    cells = {str(c): x[:, c].astype(np.float64 if c < 2 else str) for c in range(columns)}
    return encoding.encode(
        encoding.fit(specs, cells, 1, None), cells, np.full(records, k, dtype=np.int32)
    )


def lost(table, loss, records):
    """What a row that these records hold loses, in units of the `LossTable`."""
    total, starts = 0, table.codebook.level_offsets
    for a, ordinal in enumerate(table.codebook.ordinal):
        levels = table.codes[a, list(records)]
        if ordinal:
            total += min(loss.whole[a], np.ptp(loss.position[starts[a] + levels]))
        else:
            total += loss.step[a] * (len(set(levels.tolist())) - 1)
        total += loss.first[a] * (len(set(levels.tolist())) > 1)
    return int(total)


def check_even(holders, k):
    """Assert that k records hold each row, its own first, and that each record holds k rows."""
    n = len(holders)
    assert all(len(set(row)) == k for row in holders.tolist())
    assert holders[:, 0].tolist() == list(range(n))
    assert np.bincount(holders.ravel(), minlength=n).tolist() == [k] * n
