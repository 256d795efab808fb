"""How common each expected degree is."""

import numpy as np

from anon_core.jit.kernel import parallel_kernel

_ROOT = 2.5066282746310002  # of 2 pi: the normal density of deviation 1 is exp(-x^2 / 2) / _ROOT


def _count_values(value):
    return len(value)


@parallel_kernel(_count_values)
def fill_commonness(begin, end, value, times, common):
    """Fill in the sum of the standard normal density at the distance of each value, `times` each.

    value, times, common : float64 (values,)
    """
    for v in range(begin, end):
        total = 0.0
        for u in range(len(value)):
            distance = value[u] - value[v]
            total += times[u] * np.exp(-distance * distance / 2)
        common[v] = total / _ROOT
