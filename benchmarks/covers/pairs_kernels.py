"""Costs of all pairs."""

from anon_core.jit.kernel import kernel, parallel_kernel
from anon_core.jit.lanes import LANES
from anon_core.search.costs_kernels import pick_levels


@kernel
def pair_cost(rows, costs, i, j):  # rows (n, attributes), costs: `Costs` of the search
    """E of two records, by place."""
    ours, theirs = (i // LANES, i % LANES), (j // LANES, j % LANES)
    cost = pick_levels(costs.coarse, *ours, rows, j) + pick_levels(costs.coarse, *theirs, rows, i)
    if costs.shift:
        cost <<= costs.shift
        cost += pick_levels(costs.fine, *ours, rows, j) + pick_levels(costs.fine, *theirs, rows, i)
    return cost


@parallel_kernel(lambda place: len(place))
def cost_matrix(
    begin, end, rows, costs, place, matrix
):  # place (n,), matrix (n, n) zeroed, by vertex
    """matrix[i, j] = E_ij, zero on the diagonal."""
    for i in range(begin, end):
        for j in range(len(place)):
            if i != j:
                matrix[i, j] = pair_cost(rows, costs, place[i], place[j])
