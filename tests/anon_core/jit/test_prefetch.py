"""Asking for a value early changes no value, wherever it is."""

import numpy as np
from numba import njit

from anon_core.jit.prefetch import prefetch_entry


@njit
def total(values, ahead):
    added = values[0] - values[0]
    for i in range(len(values)):
        prefetch_entry(values, np.int64(i + ahead))
        added += values[i]
    return added


def test_sums_do_not_change():
    for kind in (np.int32, np.int64, np.uint8):
        values = np.arange(100).astype(kind)
        for ahead in (0, 16, 2**40):
            assert total(values, ahead) == values.sum(dtype=np.int64)


def test_the_code_asks_the_memory():
    total(np.arange(3), 1)
    assert "llvm.prefetch" in total.inspect_llvm(total.signatures[-1])
