"""Diverse classes: that they are, and that who knows all halves learns no more of a value."""

import itertools
import math
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers.halving import Joined, join_classes, measure_gain
from anon_core.anonymizers.k_member import KMember
from anon_core.anonymizers.weights import feature_weights
from anon_core.errors import InfeasibleError
from anon_core.seating.matching import random_matching
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.diverse import DiverseDemand
from tests.observers import Seen
from tests.strategies import tables
from tests.support.seats import few_levels

RULES = [("distinct", 2), ("distinct", 3), ("entropy", 1.5), ("distance", 0.25)]


def compute_by_definition(measure, values, whole, *, ordered):
    """l or the distance of a class, from its values and those of all records."""
    own, of_all = Counter(values), Counter(whole)
    share = {value: own[value] / len(values) for value in of_all}
    if measure == "distinct":
        return len(own)
    if measure == "entropy":
        return math.exp(-sum(p * math.log(p) for p in share.values() if p))
    gap = [share[value] - of_all[value] / len(whole) for value in sorted(of_all)]
    if not ordered:
        return sum(abs(each) for each in gap) / 2
    return sum(abs(sum(gap[:end])) for end in range(1, len(gap))) / max(1, len(gap) - 1)


def meets_by_definition(demand, members, measure, limit):
    found = compute_by_definition(
        measure, demand.value[members].tolist(), demand.value.tolist(), ordered=demand.ordered
    )
    return found <= limit + 1e-9 if measure == "distance" else found >= limit - 1e-9


@st.composite
def demanding_tables(draw):
    """(table, group): values of a sensitive column, and classes of any sizes."""
    table = draw(tables(most_records=20))
    n = table.records
    values = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    measure, limit = draw(st.sampled_from(RULES))
    demand = DiverseDemand.of(np.array(values), measure, limit, ordered=draw(st.booleans()))
    group = draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    numbered = np.unique(group, return_inverse=True)[1].astype(np.int64)
    return replace(table, diverse=demand), numbered


@given(demanding_tables())
def test_joined_classes_meet_the_demand_by_definition(case):
    table, group = case
    demand = table.diverse
    rule = demand.measure, demand.limit
    if not meets_by_definition(demand, np.arange(table.records), *rule):
        with pytest.raises(InfeasibleError, match=r"the largest l is|no l is small"):
            demand.refuse_impossible()
        return
    demand.refuse_impossible()
    joined = join_classes(table, group, feature_weights(table.codebook, "columns")[0])
    assert len(set(zip(group.tolist(), joined.group.tolist(), strict=True))) == group.max() + 1
    for number in range(joined.group.max() + 1):
        assert meets_by_definition(demand, np.flatnonzero(joined.group == number), *rule)
    for first, second in joined.halves:
        assert not all(meets_by_definition(demand, half, *rule) for half in (first, second))
        (whole,) = set(joined.group[np.concatenate([first, second])].tolist())
        assert (joined.group == whole).sum() == len(first) + len(second)


@given(demanding_tables())
def test_a_class_is_met_as_the_definition_says(case):
    table, group = case
    rule = table.diverse.measure, table.diverse.limit
    for number in range(group.max() + 1):
        members = np.flatnonzero(group == number)
        assert table.diverse.meets(members) == meets_by_definition(table.diverse, members, *rule)


def list_worlds(table, group, measure, limit, values):
    """By what a release shows: the values of all records in each world that gives it."""
    shown = defaultdict(list)
    weight = feature_weights(table.codebook, "columns")[0]
    for world in itertools.product(range(values), repeat=table.records):
        demand = DiverseDemand.of(np.array(world), measure, limit, ordered=False)
        if not demand.meets(np.arange(table.records)):
            continue
        joined = join_classes(replace(table, diverse=demand), group, weight)
        classes = frozenset(
            (tuple(members), tuple(sorted(world[each] for each in members)))
            for number in range(joined.group.max() + 1)
            if (members := np.flatnonzero(joined.group == number).tolist())
        )
        shown[classes].append((world, demand, joined))
    return shown


def gain_by_definition(classes, worlds):
    """How far the chance of a value of somebody exceeds its share in the class, at most."""
    most = Fraction(0)
    for members, values in classes:
        for value, member in itertools.product(set(values), members):
            right = sum(world[member] == value for world, *_ in worlds)
            share = Fraction(values.count(value), len(values))
            most = max(most, Fraction(right, len(worlds)) - share)
    return most


def a_table(sizes):
    """(table, group): records of two columns in classes of these sizes."""
    table = tables_of_two_columns(sum(sizes))
    return table, np.repeat(np.arange(len(sizes)), sizes)


def tables_of_two_columns(records):
    columns = {
        "age": np.arange(records, dtype=np.float64),
        "city": np.array([("ulm", "bonn", "kiel")[each % 3] for each in range(records)], object),
    }
    specs = [
        ColumnSpec(name="age", kind="numeric", encoding="ordinal"),
        ColumnSpec(name="city", kind="categorical"),
    ]
    return encoding.encode(encoding.fit(specs, columns), columns, np.full(records, 2))


@pytest.mark.long
@pytest.mark.parametrize(
    ("sizes", "measure", "limit", "values"),
    [
        ((2, 2, 2, 2), "distinct", 2, 2),
        ((2, 2, 2, 2), "entropy", 1.8, 2),
        ((2, 2, 2, 2), "distance", 0.2, 2),
        ((1, 1, 1, 1, 1, 1, 1, 1), "distinct", 2, 2),
        ((3, 3), "distinct", 3, 3),
    ],
)
def test_of_equal_halves_nobody_learns_more_than_the_shares(sizes, measure, limit, values):
    """All worlds: the attacker knows the classes before, the program and each joined class."""
    table, group = a_table(sizes)
    shown = list_worlds(table, group, measure, limit, values)
    assert any(joined.halves for worlds in shown.values() for *_, joined in worlds)
    for classes, worlds in shown.items():
        assert gain_by_definition(classes, worlds) == 0
        assert measure_gain(*worlds[0][1:]) == {
            "minimality_gain": 0.0,
            "minimality_unmeasured": 0.0,
        }


def test_what_unequal_halves_tell_is_measured():
    table, group = a_table((3, 3, 3))
    gains = []
    for classes, worlds in list_worlds(table, group, "distinct", 2, 2).items():
        told = measure_gain(*worlds[0][1:])
        assert told["minimality_gain"] == pytest.approx(
            float(gain_by_definition(classes, worlds)), abs=0.05
        )
        gains.append(told["minimality_gain"])
    assert max(gains) > 0.05


def test_what_is_measured_follows_from_what_a_class_shows():
    """Whoever has which value: else the figure would tell it."""
    halves = [(np.arange(4), np.arange(4, 12))]
    told = set()
    for people in itertools.combinations(range(12), 3):
        demand = DiverseDemand.of(np.isin(range(12), people), "distinct", 2, ordered=False)
        told.add(measure_gain(demand, Joined(np.zeros(12, np.int64), halves))["minimality_gain"])
    assert len(told) == 1
    assert told.pop() > 0


def test_classes_too_rare_to_draw_are_counted():
    table, group = a_table((20, 40))
    demand = DiverseDemand.of(np.repeat([0, 1, 0], 20), "distinct", 2, ordered=False)
    joined = join_classes(
        replace(table, diverse=demand), group, feature_weights(table.codebook, "columns")[0]
    )
    told = measure_gain(demand, joined)
    assert told == {"minimality_gain": 0.0, "minimality_unmeasured": 60.0}


@given(few_levels(), st.randoms(use_true_random=False))
def test_a_release_shows_the_classes(table, random):
    """Nobody leaves the own class: its rows show exactly what its members have."""
    value = np.array([random.randrange(3) for _ in range(table.records)])
    demand = DiverseDemand.of(value, "distinct", 2, ordered=False)
    table = replace(table, diverse=demand)
    if len(demand.whole) < 2:
        with pytest.raises(InfeasibleError):
            KMember().anonymize(table)
        return
    masked = KMember().anonymize(table)
    words = np.random.default_rng(random.randrange(99))
    seat = random_matching(masked, lambda count: words.integers(0, 2**32, count, dtype=np.uint32))
    rows = np.concatenate([masked.hidden, table.bits & ~masked.hidden], axis=1)
    shown = defaultdict(set)
    for record, row in enumerate(seat.tolist()):
        shown[rows[row].tobytes()].add(int(value[record]))
    assert min(len(values) for values in shown.values()) >= 2


def test_a_checkpoint_gives_the_same():
    table = tables_of_two_columns(12)
    demand = DiverseDemand.of(np.arange(12) // 6, "distinct", 2, ordered=False)
    table, seen = replace(table, diverse=demand), Seen()
    first = KMember().anonymize(table, observer=seen)
    again = KMember().anonymize(table, resume=seen.states[0])
    assert first.steps == again.steps
    assert (first.hidden == again.hidden).all()


def test_arrays_carry_the_demand():
    demand = DiverseDemand.of(np.array([5, 7, 5]), "distance", 0.3, ordered=True)
    carried = DiverseDemand.unpack_arrays(demand.pack_arrays())
    assert carried.value.tolist() == [0, 1, 0]
    assert carried.whole.tolist() == [2, 1]
    assert (carried.measure, carried.limit, carried.ordered) == ("distance", 0.3, True)
    assert DiverseDemand.unpack_arrays({}) is None
