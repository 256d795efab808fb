"""k for every record, in each of the four forms; refusals by counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.errors import InfeasibleError, InputError
from anon_core.specs.demands import MOST_K, Demand
from anon_core.tables.demands import resolve_demands

MARK = "zq7"


def everyone(n):
    return np.ones(n, dtype=np.bool_)


def quiet(error):
    while error is not None:
        assert MARK not in str(error) + repr(error)
        error = error.__cause__ or error.__context__


def test_constant():
    k, kept = resolve_demands(Demand(constant=3), everyone(4), None)
    assert k.tolist() == [3, 3, 3, 3]
    assert k.dtype == np.int32
    assert kept.all()


@given(st.integers(1, 40), st.integers(0, 30), st.integers(0, 2**64))
def test_uniform_draws_both_ends_and_repeats_itself(low, more, seed):
    demand = Demand(uniform=(low, low + more), seed=seed)
    k, kept = resolve_demands(demand, everyone(300), None)
    assert k.min() >= low
    assert k.max() <= low + more
    assert kept.all()
    assert (resolve_demands(demand, everyone(300), None)[0] == k).all()


def test_uniform_reaches_every_k_of_its_range():
    k, _ = resolve_demands(Demand(uniform=(2, 5), seed=1), everyone(500), None)
    assert set(k.tolist()) == {2, 3, 4, 5}
    other, _ = resolve_demands(Demand(uniform=(2, 5), seed=2), everyone(500), None)
    assert (k != other).any()


def test_column():
    k, _ = resolve_demands(Demand(column="k"), everyone(3), np.array([1.0, 3.0, 2.0]))
    assert k.tolist() == [1, 3, 2]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 0, -1, 2.5, 2.0**31, 1e300])
def test_columns_that_hold_no_k_are_counted(wrong):
    demand = Demand(column="wish")
    with pytest.raises(
        InputError, match="column 'wish': 2 of 4 records hold no whole k >= 1; fix the source"
    ):
        resolve_demands(demand, everyone(4), np.array([1.0, wrong, 2.0, wrong]))


def test_groups():
    demand = Demand(by="state", levels={"IA": 3, "NY": 2}, default=1)
    k, _ = resolve_demands(demand, everyone(4), np.array(["IA", "TX", None, "NY"], dtype=object))
    assert k.tolist() == [3, 1, 1, 2]


def test_groups_without_a_level_are_counted():
    demand = Demand(by="state", levels={MARK: 2})
    with pytest.raises(
        InputError, match="column 'state': 2 of 3 records are of a group that levels do not name"
    ) as caught:
        resolve_demands(demand, everyone(3), np.array([MARK, MARK + "x", None], dtype=object))
    quiet(caught.value)


@pytest.mark.parametrize("values", [None, np.array([1.0])])
def test_columns_that_were_not_given(values):
    with pytest.raises(InputError, match="column 'wish', which was not given for every record"):
        resolve_demands(Demand(column="wish"), everyone(2), values)


@pytest.mark.parametrize(
    ("settings_", "words"),
    [
        ({}, "k is one of"),
        ({"constant": 2, "column": "k"}, "k is one of"),
        ({"constant": 0}, "at least 1"),
        ({"constant": -3}, "at least 1"),
        ({"constant": 10**30}, f"at most {MOST_K}"),
        ({"uniform": (0, 3)}, "at least 1"),
        ({"uniform": (2, 2**31)}, f"at most {MOST_K}"),
        ({"uniform": (5, 3)}, "lo <= hi"),
        ({"uniform": (2, 3), "seed": -1}, "seed of uniform k must be at least 0"),
        ({"by": "a", "levels": {MARK: 0}}, "at least 1"),
        ({"by": "a", "levels": {MARK: 10**30}}, "at most"),
        ({"by": "a", "default": 0}, "at least 1"),
    ],
)
def test_demands_are_checked_at_birth(settings_, words):
    with pytest.raises(InputError, match=words) as caught:
        Demand(**settings_)
    quiet(caught.value)


def test_a_demand_shows_no_levels():
    assert MARK not in repr(Demand(by="state", levels={MARK: 2}, default=1))


@pytest.mark.parametrize(
    "demand", [Demand(constant=4), Demand(constant=MOST_K), Demand(uniform=(4, MOST_K))]
)
def test_more_than_everyone_is_refused_with_counts(demand):
    with pytest.raises(InfeasibleError, match="3 of 3 records demand k > 3; lower k or drop them"):
        resolve_demands(demand, everyone(3), None)


def test_only_records_that_stay_are_a_crowd():
    stays = np.array([True, True, False, True])
    with pytest.raises(InfeasibleError, match="1 of 3 records demand k > 3"):
        resolve_demands(Demand(column="k"), stays, np.array([1.0, 4.0, 9.0, 3.0]))
    k, kept = resolve_demands(
        Demand(column="k", infeasible="drop"), stays, np.array([1.0, 4.0, 9.0, 2.0])
    )
    assert kept.tolist() == [True, False, False, True]
    assert k[kept].tolist() == [1, 2]


@pytest.mark.parametrize("k", [[2, 2], [1, 3, 3]])
def test_a_release_of_one_or_none_is_refused(k):
    with pytest.raises(InfeasibleError, match="fewer than 2 records are left"):
        resolve_demands(
            Demand(column="k", infeasible="drop"), np.arange(len(k)) < 1, np.array(k, dtype=float)
        )


@given(st.lists(st.tuples(st.integers(1, 12), st.booleans()), min_size=2, max_size=12))
def test_dropping_leaves_the_largest_crowd_that_suits_itself(people):
    """Whoever demands more than all that could stay cannot be kept; everyone else is."""
    wishes = np.array([float(k) for k, _ in people])
    stays = np.array([stay for _, stay in people])
    best = max((m for m in range(len(people) + 1) if (stays & (wishes <= m)).sum() >= m), default=0)
    demand = Demand(column="k", infeasible="drop")
    if (stays & (wishes <= best)).sum() < 2:
        with pytest.raises(InfeasibleError, match="fewer than 2"):
            resolve_demands(demand, stays, wishes)
        return
    k, kept = resolve_demands(demand, stays, wishes)
    assert kept.tolist() == (stays & (wishes <= best)).tolist()
    assert (k[kept] <= kept.sum()).all()
