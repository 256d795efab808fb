# placeholder
from typing import NamedTuple

import numpy as np


class C(NamedTuple):
    n: int
    chain: object


def cell_of(start, row, here, chain, person, value):
    return C(len(chain), chain)


def cell_crowds(c):
    return np.full(c.n, 10**6)


class H(NamedTuple):
    number: object
    least_rows: object


def histories(cells):
    n = len(np.unique(np.concatenate([c.chain for c in cells])))
    return H(np.full(n, 10**6), np.full(n, 10**6))
