"""What a baseline found, as rows that the auditor can read."""

import numpy as np

from anon_core.anonymizers.groups import hide_group_differences
from anon_core.tables.records import MaskedTable


def of_classes(table, classes):
    """Rows of a partition, a list of arrays of records: equal within each class."""
    group = np.empty(table.records, dtype=np.int64)
    for number, members in enumerate(classes):
        group[members] = number
    return MaskedTable(table, hide_group_differences(table, group))


def of_pairs(table, rows, records):
    """Rows that allow the levels of records: int64 (m,) each, row and record of each pair."""
    hidden = np.zeros_like(table.bits)
    np.bitwise_or.at(hidden, rows, table.bits[rows] ^ table.bits[records])
    return MaskedTable(table, hidden)


def of_holders(table, holders):
    """Rows that k records hold, holders int (n, k), each with the chance 1/k to sit there."""
    rows = np.repeat(np.arange(table.records), holders.shape[1])
    hidden = of_pairs(table, rows, holders.ravel()).hidden
    return MaskedTable(table, hidden, holders=holders.astype(np.int32))
