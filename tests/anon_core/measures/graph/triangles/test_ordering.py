"""Triangles in ascending order, and lists that are written in small chunks."""

from itertools import chain

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.engines.local import threads_set
from anon_core.measures.graph.triangles import counting
from anon_core.measures.graph.triangles.ordering import sort_triangle_rows
from anon_core.measures.graph.triangles.oriented import orient_edges
from tests import naive
from tests.strategies import simple_graphs

ROWS = st.lists(st.tuples(*[st.integers(0, 5)] * 3), max_size=8)


@given(st.lists(ROWS, max_size=5), st.sampled_from([1, 2, 3]))
def test_rows_are_sorted_by_first_then_second_then_third(drawn, threads):
    chunks = [np.array(rows, dtype=np.int32).reshape(-1, 3) for rows in drawn]
    with threads_set(min(threads, numba.config.NUMBA_NUM_THREADS)):
        found = sort_triangle_rows(chunks, 6)
    assert [tuple(row) for row in found.tolist()] == sorted(chain(*drawn))
    assert chunks == []


@given(simple_graphs())
def test_a_list_is_the_same_in_small_chunks(drawn):
    """With room for one list at a time, each vertex is left and entered again."""
    u, v, n = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "TRIANGLES_AT_ONCE", 0)
        rows = counting.list_triangles(orient_edges(u, v, n, numbered=False))
    edges = set(zip(u.tolist(), v.tolist(), strict=True))
    assert [tuple(row) for row in rows.tolist()] == naive.triangles(edges)
