"""Crowds of people: who owns several records fills no crowd with them."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive, KMember
from anon_core.anonymizers.weights import feature_weights
from anon_core.errors import InfeasibleError, InputError, LimitError
from anon_core.seating import reseating
from anon_core.seating.even import build_even_rows, even_memory
from anon_core.seating.exchanges import swapping
from anon_core.seating.matching import draw_by_holders, random_matching
from anon_core.seating.record_classes import RecordClasses
from anon_core.seating.reseating import mix_values, reseat_memory, reseat_people
from anon_core.seating.rings import seat_in_ring
from anon_core.tables import encoding
from anon_core.tables.demands import of_people
from anon_core.tables.records import MaskedTable
from tests import naive
from tests.support.masked import unpack
from tests.support.seats import check_people, keep_short, owned, words


def even_rows(table, hidden):
    """Even seats, also where some person owns nearly 1/k of all records."""
    return build_even_rows(table, hidden, feature_weights(table.codebook, "columns"))


@pytest.mark.long
@given(owned(), st.booleans())
def test_against_the_definition(table, masked):
    hidden = np.zeros_like(table.bits)
    if masked:
        hidden = Adaptive().anonymize(replace(table, person=None)).hidden
    rows = even_rows(table, hidden)
    check_people(table, rows.hidden, rows.holders)


@pytest.mark.long
@given(owned())
def test_short_lists_are_enough(table):
    with pytest.MonkeyPatch.context() as patch:
        keep_short(patch)
        hidden = np.full_like(table.bits, np.uint64(2**table.codebook.features - 1))
        rows = even_rows(table, hidden)
    check_people(table, rows.hidden, rows.holders)


@given(owned(), st.data())
def test_parties_of_a_part_are_numbered_from_0_in_the_order_of_its_people(table, data):
    places = data.draw(st.sets(st.integers(0, table.records - 1), min_size=1))
    classes = RecordClasses.of_table(table.at(np.array(sorted(places))))
    person = table.person[np.array(sorted(places))[classes.first]]
    assert list(classes.party) == [sorted(set(person)).index(each) for each in person]


@given(owned())
def test_a_ring_seats_different_people_in_each_row(table):
    classes = RecordClasses.of_table(table)
    for shares in (table.k[0], 3 * table.k[0]):
        holders = classes.first[seat_in_ring(classes, shares)]
        assert (holders[:, 0] == classes.first[classes.of]).all()
        check_people(table, np.full_like(table.bits, np.uint64(2**64 - 1)), holders)


def test_a_search_that_finds_no_seats_proves_nothing():
    """The last two records demand all rows, but may hold 1/4 of one person's two rows only."""
    table = from_people([0, 0, 1, 2], k=np.array([2, 2, 4, 4]))
    table.refuse_impossible_demands()
    with pytest.raises(LimitError, match="does not prove that none exist"):
        even_rows(table, np.zeros_like(table.bits))


def made_of(table):
    rows = even_rows(table, np.zeros_like(table.bits))
    return MaskedTable(table, rows.hidden, holders=rows.holders)


def crowds_of(table, hidden, seat):
    """People in the compatible and in the matchable rows of each record."""
    f = table.codebook.features
    x, stars = unpack(table.bits, f), unpack(hidden, f)
    fit = naive.compatible(x, x, stars)
    sits = np.empty_like(table.person)
    sits[seat] = table.person
    return naive.people(fit, sits), naive.people(naive.matchable(fit), sits)


@pytest.mark.long
@given(owned(), st.integers(0, 2**32 - 1))
def test_every_crowd_holds_k_people_after_the_draw(table, seed):
    made = made_of(table)
    seat = random_matching(made, words(seed))
    assert sorted(seat) == list(range(table.records))
    for people in crowds_of(table, made.hidden, seat):
        assert (people >= table.k).all()
    chances = naive.shares(table, made.holders)[np.arange(table.records), seat]
    assert (chances > 0).all()


@given(owned())
def test_at_home_every_crowd_holds_k_people(table):
    made = made_of(table)
    home = np.arange(table.records)
    for people in crowds_of(table, made.hidden, home):
        assert (people >= table.k).all()
    stays = reseat_people(table, made.hidden, made.holders, home, words(1))
    assert (stays == home).all()


def test_methods_that_count_rows_refuse_people():
    table = from_people([0, 0, 1, 1, 2, 2, 3, 3], k=2)
    with pytest.raises(InputError, match="seats = 'even'"):
        Adaptive(seats="matchable").admit(table)
    with pytest.raises(InputError, match="local-search"):
        KMember().admit(table)
    Adaptive(seats="even").admit(table)


def test_nobody_can_own_more_than_1_of_k_records():
    with pytest.raises(InfeasibleError, match="4 of 8 records belong to people who own more"):
        Adaptive(seats="even").admit(from_people([0, 0, 0, 0, 1, 2, 3, 4], k=3))


def test_all_records_of_a_person_demand_its_greatest_k():
    table = encoding.from_bits(np.eye(6, dtype=int), np.array([1, 2, 1, 1, 3, 1]))
    assert of_people(table, np.array([0, 0, 1, 2, 2, 3])).k.tolist() == [2, 2, 1, 3, 3, 1]


def from_people(person, k):
    n = len(person)
    table = encoding.from_bits(np.eye(n, dtype=int), np.full(n, k))
    return of_people(table, np.array(person, dtype=np.int32))


@pytest.fixture(scope="module")
def larger():
    """800 records of 200 people, four each."""
    rng = np.random.default_rng(2)
    centers = rng.integers(0, 2, (30, 24))
    person = rng.permutation(np.repeat(np.arange(200), 4)).astype(np.int32)
    x = centers[person % 30] ^ (rng.random((800, 24)) < 0.05)
    return Adaptive(seats="even").anonymize(
        of_people(encoding.from_bits(x, np.full(800, 4)), person)
    )


def test_exchanges_mend_the_crowds_of_a_larger_table(larger):
    """Without them some crowds lack people; with them none does, and few records move."""
    made, table, person = larger, larger.table, larger.table.person
    x, stars = unpack(table.bits, 24), unpack(made.hidden, 24)
    fit = np.array([((x == row) | stars).all(axis=1) for row in x])

    def short(seat):
        sits = np.empty_like(person)
        sits[seat] = person
        return int((naive.people(fit, sits) < 4).sum())

    drawn = draw_by_holders(table, made.holders, words(5))
    assert short(drawn) > 0
    assert short(random_matching(made, words(5))) == 0
    seat = reseat_people(table, made.hidden, made.holders, drawn, words(6))
    assert short(seat) == 0
    assert (seat != drawn).mean() < 0.2
    again = reseat_people(table, made.hidden, made.holders, drawn, words(6))
    assert (seat == again).all()


@given(owned(), st.integers(1, 5), st.data())
def test_rows_that_share_a_holder_are_looked_at_together(table, at_once, data):
    """Any member may stand for its class, as in tables of which equal records are set apart."""
    classes = RecordClasses.of_table(table)
    members = [np.flatnonzero(classes.of == c) for c in range(len(classes))]
    holders = np.array(
        [
            [v, *(data.draw(st.sampled_from(members[c])) for c in others)]
            for v in range(table.records)
            for others in [data.draw(st.lists(st.sampled_from(classes.of), min_size=2, max_size=2))]
        ],
        dtype=np.int32,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reseating, "AT_ONCE", at_once)
        parts = reseating._divide_by_components(table, holders)
    assert sorted(np.concatenate(parts).tolist()) == list(range(table.records))
    of_parts = [set(classes.of[holders[rows]].ravel()) for rows in parts]
    for place, held in enumerate(of_parts):
        assert all(held.isdisjoint(other) for other in of_parts[place + 1 :])


def test_components_are_looked_at_some_at_a_time(larger, monkeypatch):
    """Two tables of different people side by side: nobody moves to the other one."""
    monkeypatch.setattr(reseating, "AT_ONCE", 100)
    table, n = larger.table, 800
    people = [table.person, table.person + 200]
    both = replace(table.at(np.tile(np.arange(n), 2)), person=np.concatenate(people))
    hidden = np.tile(larger.hidden, (2, 1))
    holders = np.concatenate([larger.holders, larger.holders + n]).astype(np.int32)
    assert len(reseating._divide_by_components(both, holders)) > 1
    drawn = draw_by_holders(both, holders, words(5))
    seat = reseat_people(both, hidden, holders, drawn, words(6))
    x, stars = unpack(table.bits, 24), unpack(larger.hidden, 24)
    fit = np.array([((x == row) | stars).all(axis=1) for row in x])
    short = []
    for seats in (drawn, seat):
        sits = np.empty_like(both.person)
        sits[seats] = both.person
        short.append(sum(int((naive.people(fit, of) < 4).sum()) for of in (sits[:n], sits[n:])))
        assert ((seats < n) == (np.arange(2 * n) < n)).all()
    assert short[0] > short[1] == 0


def test_exchanges_bring_nobody_home_more_often_than_the_lot_does(larger):
    """Full crowds are likelier with everyone at home; exchanges that follow this give rows away."""
    person, stream = larger.table.person, words(8)
    theirs = (person[larger.holders] == person[:, None]).mean()
    home = []
    for _ in range(40):
        drawn = draw_by_holders(larger.table, larger.holders, stream)
        seat = reseat_people(larger.table, larger.hidden, larger.holders, drawn, stream)
        home.append([(person[rows] == person).mean() for rows in (drawn, seat)])
    lot, after = np.mean(home, axis=0)
    error = np.std(home, axis=0, ddof=1) / np.sqrt(len(home))
    assert abs(lot - theirs) < 3 * error[0]
    assert abs(after - theirs) < 3 * error[1]


@pytest.mark.long
@pytest.mark.parametrize("k", [2, 3])
def test_people_of_two_records_sit_in_each_row_with_exactly_its_chance(k):
    """The lot keeps the law exactly. Exchanges may double a chance in tables of eight records."""
    table = from_people([0, 0, 1, 1, 2, 2, 3, 3], k)
    x = np.random.default_rng(20).integers(0, 2, (8, 4))
    table = of_people(encoding.from_bits(x, table.k), table.person)
    made = Adaptive(seats="even").anonymize(table)
    expected = naive.shares(table, made.holders) / made.holders.shape[1]
    draws, stream = 1000, words(6)
    seen, after = np.zeros((2, 8, 8))
    for _ in range(draws):
        drawn = draw_by_holders(table, made.holders, stream)
        seen[np.arange(8), drawn] += 1
        after[np.arange(8), reseat_people(table, made.hidden, made.holders, drawn, stream)] += 1
    assert abs(seen / draws - expected).max() < 0.08  # five standard deviations and more
    of_person = np.add.reduceat(after / draws, np.arange(0, 8, 2))
    assert of_person.max() <= 2 / k


def test_rows_are_listed_alike_in_many_parts(larger, monkeypatch):
    table, none = larger.table, np.zeros_like(larger.hidden)
    whole = even_rows(table, none)
    monkeypatch.setattr(swapping, "CLASSES_AT_ONCE", 7)
    parts = even_rows(table, none)
    assert (parts.hidden == whole.hidden).all()
    assert (parts.holders == whole.holders).all()


@pytest.mark.parametrize("people", [False, True])
def test_even_rows_take_no_more_memory_than_stated(larger, people):
    table, none = larger.table, np.zeros_like(larger.hidden)
    table = table if people else replace(table, person=None)
    even_rows(table, none)  # compiles
    tracemalloc.start()
    even_rows(table, none)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= even_memory(table, 4) <= 4 * peak


def test_exchanges_take_no_more_memory_than_stated(larger):
    """Everything is hidden, so that crowds fill the room that they have."""
    table, home = larger.table, np.arange(800)
    given = table, np.full_like(larger.hidden, 2**24 - 1), larger.holders
    for exchange in (
        lambda: reseat_people(*given, home, words(1)),
        lambda: mix_values(*given, home, home % 3, words(1)),
    ):
        exchange()  # compiles
        tracemalloc.start()
        exchange()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        stated = reseat_memory(table, larger.holders.shape[1])
        assert peak <= stated <= 3 * peak
