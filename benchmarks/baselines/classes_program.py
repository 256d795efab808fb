"""The program of Liang and Samavi (equations 21-32) as it stands in their paper, by HiGHS."""

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import lil_array

NODES = 1_000_000


def classes_program(values, k, *, bounds=None, weights=None, nodes=NODES):
    """Partition records into classes of k at least whose ranges sum to the least.

    values float (n, attributes), all ordered. bounds: L and U, (attributes,) each; without them the
    least and the greatest value of each column. Returns the classes (arrays of records, by equal
    bounds) and their loss; None without a proof.

    v[i, l] is one variable for each pair i < l: the constraints of (l, i) repeat those of (i, l).
    y and z are not asked to be whole (equation 27): with v given, the least ranges end at values.
    """
    n, m = values.shape
    low, high = bounds or (values.min(axis=0), values.max(axis=0))
    cost = (np.ones(m) if weights is None else np.asarray(weights)) / (high - low)
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
    y = np.arange(n * m).reshape(n, m)
    z, v = y + n * m, 2 * n * m + np.arange(len(pairs))
    size = 2 * n * m + len(pairs)
    equal, most = lil_array((4 * m * len(pairs), size)), np.empty(4 * m * len(pairs))
    row = 0
    for pair, (i, j) in enumerate(pairs):
        of_y = np.maximum(values[i], values[j]) - low  # (29)
        of_z = high - np.minimum(values[i], values[j])  # (31)
        for a in range(m):
            for of, limit in ((y, of_y[a]), (z, of_z[a])):
                for sign in (1, -1):  # (22, 24), then (23, 25): m = -M
                    equal[row, of[i, a]], equal[row, of[j, a]] = sign, -sign
                    equal[row, v[pair]], most[row] = limit, limit
                    row += 1
    crowd = lil_array((n, size))
    for pair, (i, j) in enumerate(pairs):
        crowd[i, v[pair]] = crowd[j, v[pair]] = 1
    objective = np.zeros(size)
    objective[z], objective[y] = cost, -cost
    found = milp(
        objective,
        constraints=[
            LinearConstraint(equal.tocsr(), -np.inf, most),
            LinearConstraint(crowd.tocsr(), k - 1, np.inf),
        ],
        bounds=Bounds(
            np.concatenate([np.tile(low, n), values.ravel(), np.zeros(len(pairs))]),
            np.concatenate([values.ravel(), np.tile(high, n), np.ones(len(pairs))]),
        ),
        integrality=np.arange(size) >= 2 * n * m,
        options={"node_limit": nodes, "mip_rel_gap": 0.0},
    )
    if found.status != 0:
        return None
    ranges = np.concatenate([found.x[y], found.x[z]], axis=1).round(6)
    group = np.unique(ranges, axis=0, return_inverse=True)[1].ravel()
    return [np.flatnonzero(group == g) for g in range(group.max() + 1)], float(found.fun)
