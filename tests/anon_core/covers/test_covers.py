"""The covers, compared with their definitions and with the crowd sizes that they must give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive
from anon_core.covers.named import COVERS
from anon_core.errors import InputError
from tests import naive
from tests.strategies import EPSILONS, tables
from tests.support.covers import (
    SHAPES,
    gives_everyone_edges,
    hides_everyone,
    pairs,
    scene_of,
    scenes,
    within_stated_memory,
)


@given(scenes(most_records=14))
def test_lse_is_the_greedy_cover_of_the_complete_graph(scene):
    *problem, weights = scene
    assert pairs(COVERS["lse"].find(*problem)) == naive.greedy_cover(weights, problem[2].tolist())


@pytest.mark.slow
def test_lse_on_a_table_whose_lists_are_used_up():
    rng = np.random.default_rng(5)
    for _ in range(4):
        x = rng.integers(0, 2, (60, 7)) * rng.integers(0, 2, (60, 1))
        *problem, weights = scene_of(
            x, rng.integers(1, 25, 60), rng.integers(0, 5, (7, 60)).astype(np.uint16)
        )
        assert pairs(COVERS["lse"].find(*problem)) == naive.greedy_cover(
            weights, problem[2].tolist()
        )


@pytest.mark.long
@pytest.mark.parametrize("name", ["mce", "lse"])
@given(table=tables(), epsilon=EPSILONS, weights=st.sampled_from(["bits", "columns"]))
def test_every_cover_hides_everyone(name, table, epsilon, weights):
    hides_everyone(name, table, epsilon, weights)


@pytest.mark.parametrize("name", ["mce", "lse"])
@pytest.mark.parametrize(("n", "f", "k"), SHAPES)
def test_shapes_of_covers(name, n, f, k):
    gives_everyone_edges(name, n, f, k)


@given(scenes())
def test_edges_ascend_by_weight_and_ends(scene):
    *problem, weights = scene
    for cover in (COVERS[name].find(*problem) for name in ("mce", "lse")):
        keys = list(zip(cover.weight.tolist(), cover.u.tolist(), cover.v.tolist(), strict=True))
        assert keys == sorted(keys)
        assert all(weights[u, v] == weight for weight, u, v in keys)


@given(scenes(most_records=12))
def test_mce_is_the_static_greedy_cover_of_the_complete_graph(scene):
    *problem, weights = scene
    assert pairs(COVERS["mce"].find(*problem)) == naive.static_cover(weights, problem[2].tolist())


def test_a_cover_is_named_or_refused():
    with pytest.raises(InputError, match="cover must be one of mce"):
        Adaptive(cover="best")


@pytest.mark.parametrize("name", ["exact", "b-matching", "nearest", "s-lse", "classes"])
def test_covers_of_comparisons_are_refused(name):
    with pytest.raises(InputError, match="cover must be one of mce, lse"):
        Adaptive(cover=name)


@pytest.mark.long
@pytest.mark.parametrize("k", [3, 40])
def test_stated_memory_of_covers_is_an_upper_bound(k):
    assert 1 / 6 <= within_stated_memory("lse", 6000, k) <= 1
