"""Small cells of a series for hypothesis."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anon_core.series.fits import Fits
from tests import naive


def fits_of(fit):
    """Fits of bool (n, n): record v fits row u."""
    start = np.concatenate([[0], np.cumsum(fit.sum(axis=1))]).astype(np.int64)
    return Fits(start, np.nonzero(fit)[1].astype(np.int32))


@st.composite
def fitting(draw, most_records=8):
    """bool (n, n): everybody fits the own row; groups, chains or anything."""
    n = draw(st.integers(1, most_records))
    fit = draw(hnp.arrays(np.bool_, (n, n), elements=st.sampled_from([False, False, True])))
    group = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 2)))
    return fit | np.eye(n, dtype=bool) | (group[:, None] == group if draw(st.booleans()) else False)


@st.composite
def crowds(draw):
    """(fit, k, person or None) of a cell in which everybody hides, with slack or without."""
    fit = draw(fitting())
    n = len(fit)
    person = None
    if draw(st.booleans()):
        person = draw(hnp.arrays(np.int32, n, elements=st.integers(0, 4)))
    who = np.arange(n) if person is None else person
    most = np.array([len(set(who[list(rows)].tolist())) for rows in naive.possible_rows(fit)])
    wanted = draw(hnp.arrays(np.int32, n, elements=st.integers(1, 4)))
    k = np.minimum(most, wanted)
    k = np.array([k[who == own].min() for own in who], dtype=np.int32)
    return fit, k, person
