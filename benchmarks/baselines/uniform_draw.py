"""The paper's draw: one of the k assignments, all with the same chance (Doka et al., section 3)."""

import numpy as np


def uniform_draw(holders, number):
    """Row of each record, int64 (n,), by assignment `number`: holders[:, number] is a matching."""
    seat = np.empty(len(holders), dtype=np.int64)
    seat[holders[:, number]] = np.arange(len(holders))
    return seat
