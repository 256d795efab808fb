"""Costs of given pairs, and of all pairs."""

import numpy as np
from numba import prange

from anon_core.kernels.jit import parallel_kernel
from anon_core.kernels.nearest import pair_cost


@parallel_kernel
def cost_matrix(table, rows, matrix):  # table (blocks, levels, LANES), rows (n, attributes), matrix (n, n) zeroed
    """matrix[i, j] = E_ij, zero on the diagonal."""
    n = len(rows)
    for i in prange(n):
        for j in range(n):
            if i != j:
                matrix[i, j] = pair_cost(table, rows, i, j)


@parallel_kernel
def edge_costs(table, rows, u, v, weight):
    """weight[e] = E of the ends of e."""
    for e in prange(len(u)):
        weight[e] = np.int32(pair_cost(table, rows, u[e], v[e]))
