"""Tables in parts: each part hides among itself, wherever it is made."""

import itertools
import json
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive, Freeform, KMember, LocalSearch, Optimal
from anon_core.anonymizers.in_parts import cut as cutting
from anon_core.anonymizers.in_parts import farmed, ranked, threaded
from anon_core.anonymizers.in_parts.cut import Cut
from anon_core.engines import local
from anon_core.errors import InfeasibleError, InputError, LimitError
from anon_core.specs.columns import ColumnSpec
from anon_core.specs.losses import Loss
from anon_core.tables.demands import of_people
from anon_core.tables.encoding import encode, fit
from anon_core.tables.loss import level_values
from anon_core.tables.records import BinaryTable
from tests import naive
from tests.observers import Seen
from tests.strategies import tables
from tests.support.farms import LastFirst
from tests.support.large import big_table
from tests.support.masked import kept, unpack
from tests.support.seats import check_even, check_people, few_levels, owned

EVEN = (
    LocalSearch(seats="even", part=3),
    Adaptive(seats="even", part=3),
    Freeform(part=3),
)
MAKER = LocalSearch(seats="even", effort=0, part=100)
ORDER = np.random.default_rng(4).permutation(600)


def content(made):
    return kept(made), made.holders.tobytes(), made.steps


@pytest.fixture(autouse=True)
def small_crowds(monkeypatch):
    """Let tables of 14 records have parts."""
    monkeypatch.setattr(cutting, "CROWDS", 1)


@pytest.fixture(scope="module")
def table():
    return big_table(600, 6, 5)


def part_of(cut):
    """The number of each record's part."""
    number = np.empty(cut.table.records, dtype=np.int64)
    for part, places in enumerate(cut.places):
        number[places] = part
    return number


@given(tables(), st.integers(1, 6))
def test_a_cut_has_each_record_once_and_nobody_demands_more_than_a_part_has(table, part):
    cut = Cut.of(table, None, part)
    assert np.sort(np.concatenate(cut.places)).tolist() == list(range(table.records))
    assert len(cut.places) <= max(1, table.records // part)
    for number, places in enumerate(cut.places):
        assert (np.diff(places) > 0).all()
        taken, order = cut.take_part(number)
        assert (taken.k <= taken.records).all()
        assert sorted(order.tolist()) == list(range(len(places)))


@given(tables(), st.integers(1, 6), st.randoms(use_true_random=False))
def test_a_cut_depends_on_no_order_of_the_source(table, part, chance):
    order = list(range(table.records))
    chance.shuffle(order)
    moved = table.at(np.array(order))
    back = np.argsort(order)
    first, second = Cut.of(table, None, part), Cut.of(moved, back, part)
    assert [sorted(np.array(order)[places]) for places in second.places] == [
        places.tolist() for places in first.places
    ]


def test_near_records_are_in_one_part():
    table = big_table(600, 6, 5)
    number = part_of(Cut.of(table, None, 100))
    fewest = min(range(len(table.codes)), key=lambda a: table.codebook.attributes[a].levels)
    for part in range(5):
        assert table.codes[fewest][number == part].max() <= (
            table.codes[fewest][number == part + 1].min()
        )


def test_equal_parts(table):
    assert [len(each) for each in Cut.of(table, None, 100).places] == [100] * 6
    assert [len(each) for each in Cut.of(table, None, 0).places] == [600]
    assert [len(each) for each in Cut.of(table, None, 301).places] == [600]
    for_many = replace(table, k=np.full(600, 250, dtype=np.int32))
    assert [len(each) for each in Cut.of(for_many, None, 10).places] == [300, 300]


def test_a_part_of_one_persons_records_joins_the_next():
    """The first 30 records in order are of one person, the others each of its own."""
    table = big_table(120, 3, 3)
    in_order = np.concatenate(Cut.of(table, None, 30).places)
    assert [len(each) for each in Cut.of(table, None, 30).places] == [30] * 4
    person = np.arange(120, dtype=np.int32)
    person[in_order[:30]] = in_order[0]
    person = np.unique(person, return_inverse=True)[1].astype(np.int32)
    cut = Cut.of(of_people(table, person), None, 30)
    assert [len(each) for each in cut.places] == [90, 30]
    last = np.arange(120, dtype=np.int32)
    last[in_order[90:]] = in_order[90]
    last = np.unique(last, return_inverse=True)[1].astype(np.int32)
    cut = Cut.of(of_people(table, last), None, 30)
    assert [len(each) for each in cut.places] == [30, 90]


@pytest.mark.long
@pytest.mark.parametrize("maker", EVEN)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(few_levels())
def test_seats_are_even_also_for_those_who_know_the_cut(maker, table):
    made, cut = local.run(maker, table), Cut.of(table, None, 3)
    check_even(table, made)
    number = part_of(cut)
    assert (number[made.holders] == number[:, None]).all()
    for places in cut.places:
        inside = np.searchsorted(places, made.holders[places])
        check_even(
            table.at(places),
            replace(made, table=table.at(places), hidden=made.hidden[places],
                    holders=inside.astype(np.int32)),
        )  # fmt: skip


@pytest.mark.long
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much],
)
@given(owned())
def test_crowds_of_people(table):
    try:
        made = local.run(LocalSearch(seats="even", part=4), table)
    except InfeasibleError:
        assume(False)
    check_people(table, made.hidden, made.holders)


@pytest.mark.long
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(tables())
def test_own_k_is_matchable(table):
    made = local.run(Adaptive(part=4), table)
    f = table.codebook.features
    x, stars = unpack(table.bits, f), unpack(made.hidden, f)
    fit = naive.compatible(x, x, stars)
    for v in range(table.records):
        assert len(naive.matchable_rows(fit, v)) >= table.k[v]


def test_classes_stay_within_parts(table):
    made, number = local.run(KMember(part=100), table), part_of(Cut.of(table, None, 100))
    assert made.holders is None
    stars = unpack(made.hidden, table.codebook.features)
    shown = np.where(stars, 2, unpack(table.bits, table.codebook.features))
    for part in range(6):
        _, sizes = np.unique(shown[number == part], axis=0, return_counts=True)
        assert sizes.min() >= 5


@given(tables(), st.sampled_from(get_args(Loss)))
def test_numbers_of_levels_are_the_same_wherever_a_part_is_made(table, loss):
    reads = LocalSearch(loss=loss).reads_numbers
    document, arrays = table.pack_arrays(numbers=reads)
    again = BinaryTable.unpack_arrays(json.loads(json.dumps(document)), arrays)
    for mine, other in zip(table.codebook.attributes, again.codebook.attributes, strict=True):
        assert np.array_equal(level_values(mine, loss), level_values(other, loss), equal_nan=True)
        assert reads or not (other.edges or other.values or other.range)


@pytest.mark.long
@pytest.mark.parametrize("loss", get_args(Loss))
@pytest.mark.parametrize(
    "method",
    [LocalSearch(effort=0), Freeform(), Optimal()],
    ids=lambda method: type(method).__name__,
)
def test_a_farm_loses_as_this_process_does(method, loss):
    generator = np.random.default_rng(1)
    columns = {
        "wide": np.round(generator.lognormal(3, 1, 300)),
        "of a range": generator.integers(0, 30, 300).astype(float),
    }
    specs = [
        ColumnSpec(name="wide", kind="numeric", encoding="ordinal", bins=12),
        ColumnSpec(name="of a range", kind="numeric", encoding="ordinal", range=(0.0, 100.0)),
    ]
    table = encode(fit(specs, columns), columns, np.full(300, 5))
    maker = replace(method, loss=loss, part=100)
    made, here = farmed.anonymize(maker, table, LastFirst()), local.run(maker, table)
    assert kept(made) == kept(here)
    assert made.steps == here.steps


@pytest.mark.long
def test_any_threads_memory_and_farm_make_the_same_bytes(table):
    expected = content(local.run(MAKER, table, tie_order=ORDER))
    cut = Cut.of(table, ORDER, 100)
    one_part = threaded.memory(MAKER, table)
    assert one_part == local.compute_memory(MAKER, table)
    assert one_part < local.compute_memory(replace(MAKER, part=0), table)
    for memory in (one_part, 10 * one_part, None):
        assert content(local.run(MAKER, table, tie_order=ORDER, memory=memory)) == expected
    assert content(farmed.anonymize(MAKER, table, LastFirst(), tie_order=ORDER)) == expected
    with pytest.raises(LimitError, match="memory"):
        local.run(MAKER, table, memory=one_part - 1)
    whole, inner = local.run(MAKER, table, tie_order=ORDER), replace(MAKER, part=0)
    for number, places in enumerate(cut.places):
        part, order = cut.take_part(number)
        assert (whole.hidden[places] == inner.anonymize(part, tie_order=order).hidden).all()


@pytest.mark.long
def test_parts_of_many_levels_of_k_are_refused_with_the_way_out(table):
    many = replace(table, k=np.arange(600, dtype=table.k.dtype) % 36 + 5)
    with pytest.raises(LimitError, match=r"or set anonymizer\.part = 0"):
        local.run(Freeform(part=100), many)
    assert local.run(Freeform(), many).holders.shape == (600, 40)


@pytest.mark.long
@pytest.mark.parametrize("run", [local.run, lambda *a, **b: farmed.anonymize(*a, LastFirst(), **b)])
def test_it_goes_on_from_each_part_that_is_done(table, run):
    seen = Seen()
    expected = content(run(MAKER, table, tie_order=ORDER, observer=seen))
    assert len(seen.states) == 6
    assert [len(state.steps) for state in seen.states] == [1, 2, 3, 4, 5, 6]
    for state in seen.states:
        again = Seen()
        assert content(run(MAKER, table, tie_order=ORDER, observer=again, resume=state)) == expected
        assert len(again.states) == 6 - len(state.steps)


@pytest.mark.parametrize("run", [local.run, lambda *a, **b: farmed.anonymize(*a, LastFirst(), **b)])
def test_a_refusal_of_one_part_names_the_way_out(table, run, monkeypatch):
    make = LocalSearch.anonymize

    def fail(method, part, **more):
        if part.codes[:, 0].tolist() == first.codes[:, 0].tolist():
            raise InfeasibleError("no seats were found")
        return make(method, part, **more)

    first = Cut.of(table, ORDER, 100).take_part(2)[0]
    monkeypatch.setattr(LocalSearch, "anonymize", fail)
    words = r"^no seats were found\. So it is in one of 6 parts .* anonymizer\.part = 0"
    with pytest.raises(InfeasibleError, match=words):
        run(MAKER, table, tie_order=ORDER)


def test_a_state_of_other_data_is_refused(table):
    seen = Seen()
    local.run(MAKER, table, observer=seen)
    with pytest.raises(InputError, match="none of this table"):
        local.run(MAKER, big_table(300, 6, 5), resume=seen.states[-1])
    whole = Seen()
    local.run(replace(MAKER, part=0), table, observer=whole)
    with pytest.raises(InputError, match="none of this table"):
        local.run(MAKER, table, resume=whole.states[-1])


class Alone:
    """A rank of several that hears nothing of the others."""

    def __init__(self, rank, size, vertices):
        self.rank, self.size = rank, size
        self.per = -(-vertices // size)
        self.low, self.high = (min(vertices, (rank + more) * self.per) for more in (0, 1))

    def over(self, vertices):
        return Alone(self.rank, self.size, vertices)

    def greatest(self, number):
        return number

    def total(self, numbers):
        return numbers

    def share(self, rows):
        pass


@pytest.mark.long
@pytest.mark.parametrize("size", [1, 2, 4, 5])
def test_no_rank_makes_a_part_that_another_one_makes(table, size, monkeypatch):
    """Beyond its own parts a rank only cuts the table and lays rows together."""
    made = {rank: [] for rank in range(size)}
    for rank, numbers in made.items():

        def note(method, cut, wanted, *rest, numbers=numbers):
            numbers += wanted
            return threaded.make_parts(method, cut, wanted, *rest)

        monkeypatch.setattr(ranked, "make_parts", note)
        ranked.anonymize(MAKER, table, Alone(rank, size, table.records), tie_order=ORDER)
    parts = len(Cut.of(table, ORDER, 100).places)
    assert sorted(itertools.chain(*made.values())) == list(range(parts))
    assert max(map(len, made.values())) <= -(-parts // size)


def test_the_step_tells_nothing_of_the_parts(table):
    (step,) = local.run(MAKER, table).steps
    assert step.number == 1
    assert step.figures.keys() == {"utility", "weighted_utility"}


@pytest.mark.long
def test_levels_of_some_parts_only(table):
    """A part in which all demand 2 has 2 shares, the table 6."""
    number = part_of(Cut.of(table, ORDER, 100))
    levels = replace(table, k=np.where(number < 3, 2, 3).astype(np.int32))
    made = local.run(MAKER, levels, tie_order=ORDER)
    assert made.holders.shape == (600, 6)
    check_even(levels, made)


@pytest.mark.parametrize("wrong", [{"part": -1}])
@pytest.mark.parametrize("method", [Adaptive, Freeform, KMember, LocalSearch, Optimal])
def test_wrong_parts_are_refused(method, wrong):
    with pytest.raises(InputError, match="part must be"):
        method(**wrong)


def test_what_travels_shows_no_data(table):
    cut = Cut.of(table, None, 100)
    assert "object at" in repr(farmed.PartChunk(0, cut, numbers=False))
    assert "object at" in repr(farmed.PartGround(MAKER, 600))
