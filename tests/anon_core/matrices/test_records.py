"""Sparse matrices as arrays: what is refused, and that packing loses nothing."""

import numpy as np
import pytest

from anon_core.errors import InfeasibleError, InputError
from anon_core.matrices.records import SparseMatrix


def matrix(indptr=(0, 2, 2, 3), indices=(0, 2, 1), items=3, k=(2, 2, 1)):
    return SparseMatrix(
        np.array(indptr, dtype=np.int64),
        np.array(indices, dtype=np.int32),
        items,
        np.array(k, dtype=np.int32),
    )


def test_an_empty_record_is_a_record():
    matrix().check()
    assert (matrix().records, matrix().entries) == (3, 3)
    matrix((0,), (), 0, ()).check()


@pytest.mark.parametrize(
    "wrong",
    [
        {"indices": (2, 0, 1)},
        {"indices": (0, 0, 1)},
        {"indices": (0, 3, 1)},
        {"indices": (-1, 2, 1)},
        {"indptr": (0, 2, 1, 3)},
        {"indptr": (1, 2, 2, 3)},
        {"indptr": (0, 2, 2, 2)},
        {"k": (2, 2)},
        {"k": (2, 0, 1)},
    ],
)
def test_arrays_that_are_no_matrix_are_refused(wrong):
    with pytest.raises(InputError):
        matrix(**wrong).check()


def test_more_rows_than_there_are_cannot_be_demanded():
    matrix(k=(3, 3, 3)).refuse_impossible_demands()
    with pytest.raises(InfeasibleError, match="1 records demand more than 3 rows"):
        matrix(k=(3, 4, 3)).refuse_impossible_demands()


def test_packing_loses_nothing():
    given = matrix()
    again = SparseMatrix.unpack_arrays(*given.pack_arrays())
    assert again.items == given.items
    for name in ("indptr", "indices", "k"):
        assert (getattr(again, name) == getattr(given, name)).all()
