"""The benchmarks' data sets are what they claim to be.

Real ones need CROWDCOVER_DATA (or ../shared/data).
"""

import numpy as np
import polars as pl
import pytest

from anon_core.anonymizers import Adaptive
from anon_core.specs.demands import Demand
from anon_core.tables import encoding
from benchmarks import exponent, in_child, tables

OF_ALL_HANDS = (1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4)  # by class


def real(name, records=None):
    try:
        return tables.table(name, records)
    except SystemExit:
        pytest.skip(f"left out: the rows behind {name} are not in CROWDCOVER_DATA")


def same(one, other):
    return all(
        np.array_equal(getattr(one, part), getattr(other, part))
        for part in ("codes", "bits", "k", "blank")
    )


def test_poker_has_the_features_and_demands_of_the_paper():
    table = tables.poker(3000)
    assert (table.records, table.codebook.features, table.bits.shape) == (3000, 95, (3000, 2))
    assert (table.k.min(), table.k.max()) == (5, 100)
    assert np.array_equal(encoding.decode_levels(table.codebook, table.bits), table.codes)


def test_hands_hold_five_different_cards_each_as_likely():
    n = 40_000
    cards = tables.hands(n, np.random.default_rng(3))
    assert (np.diff(np.sort(cards, axis=0), axis=0) > 0).all()
    for place in cards:
        counts = np.bincount(place, minlength=52)
        assert np.abs(counts - n / 52).max() < 5 * np.sqrt(n / 52)


def test_hand_classes_come_as_often_as_counted():
    n = 200_000
    counts = np.bincount(tables.poker(n).codes[10], minlength=10)
    share = np.array(OF_ALL_HANDS) / 2_598_960
    assert sum(OF_ALL_HANDS) == 2_598_960
    assert (np.abs(counts - n * share) < 5 * np.sqrt(n * share) + 3).all()


@pytest.mark.parametrize(
    ("hand", "expected"),
    [
        ("0.1 1.3 2.5 3.7 0.9", 0),
        ("0.1 1.1 2.5 3.7 0.9", 1),
        ("0.1 1.1 2.5 3.5 0.9", 2),
        ("0.1 1.1 2.1 3.5 0.9", 3),
        ("0.1 1.2 2.3 3.4 0.5", 4),
        ("0.0 1.9 2.10 3.11 0.12", 4),
        ("0.11 1.12 2.0 3.1 0.2", 0),
        ("0.1 0.3 0.5 0.7 0.9", 5),
        ("0.1 1.1 2.1 3.5 0.5", 6),
        ("0.1 1.1 2.1 3.1 0.5", 7),
        ("0.1 0.2 0.3 0.4 0.5", 8),
        ("0.0 0.9 0.10 0.11 0.12", 9),
    ],
)
def test_hand_class(hand, expected):
    suits, ranks = np.array([[int(part) for part in card.split(".")] for card in hand.split()]).T
    assert tables.hand_class(suits[:, None], ranks[:, None]).tolist() == [expected]


def test_hand_class_is_that_of_the_published_hands():
    try:
        frame = tables.read("poker/poker-hand-training-true.data.gz", has_header=False)
    except SystemExit:
        pytest.skip("left out: the published hands are not in CROWDCOVER_DATA")
    values = frame.cast(pl.Int64).to_numpy().T
    assert np.array_equal(tables.hand_class(values[0:10:2] - 1, values[1:10:2] - 1), values[10])


def test_companions_share_the_key_and_reach_every_row():
    key = np.array([2, 0, 2, 1, 2, 0])
    rows = np.repeat(np.arange(6), 200)
    found = tables.companions(key, rows, np.random.default_rng(1))
    assert np.array_equal(key[found], key[rows])
    assert set(zip(rows.tolist(), found.tolist(), strict=True)) == {
        (i, j) for i in range(6) for j in range(6) if key[i] == key[j]
    }


def test_mixed_takes_each_column_from_its_rows():
    frame = pl.DataFrame({"a": ["x", "y", "z"], "b": ["p", "q", "p"], "c": ["1", "2", "3"]})
    whole = tables.coded(frame, Demand(constant=2))
    table = tables.mixed(
        whole, {("a", "c"): np.array([2, 0]), ("b",): np.array([1, 1])}, Demand(constant=1)
    )
    assert table.codes.tolist() == [[2, 0], [1, 1], [2, 0]]
    assert np.array_equal(encoding.decode_levels(table.codebook, table.bits), table.codes)
    assert tables.distinct_rows(table) == 2


def test_a_cut_table_demands_no_more_than_it_holds():
    table = tables.cut(tables.poker(500), 40)
    assert (table.records, table.k.max()) == (40, 40)
    (step,) = Adaptive(weights="bits", max_iterations=1).anonymize(table).steps
    assert step.figures["cover_edges"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "records", "features", "k"),
    [
        ("caltech36", 769, 101, (2, 10)),
        ("reed98", 962, 139, (2, 10)),
        ("haverford76", 1446, 145, (2, 10)),
        ("simmons81", 1518, 140, (2, 10)),
        ("adult", 32561, 101, (5, 100)),
        ("adult-zeros", 32561, 101, (5, 100)),
    ],
)
def test_real_sets_have_the_features_of_the_paper(name, records, features, k):
    table = real(name)
    assert (table.records, table.codebook.features) == (records, features)
    assert (table.k.min(), table.k.max()) == k


@pytest.mark.long
def test_adult_readings_differ_only_where_a_value_is_unknown():
    bits = [
        np.unpackbits(real(name).bits.view(np.uint8), axis=1, bitorder="little")
        for name in ("adult", "adult-zeros")
    ]
    assert (bits[0] >= bits[1]).all()
    assert int((bits[0] - bits[1]).sum()) == 4262


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "features"), [("census", 68), ("cms", 512), ("open-payments", 399)]
)
def test_drawn_sets_have_their_features_and_repeat(name, features):
    table = real(name, 2000)
    assert (table.records, table.codebook.features) == (2000, features)
    assert np.array_equal(encoding.decode_levels(table.codebook, table.bits), table.codes)
    assert same(table, tables.table(name, 2000))


@pytest.mark.long
@pytest.mark.parametrize("name", ["census", "cms", "open-payments"])
def test_distinct_rows_grow_with_drawn_rows(name):
    small, large = (tables.distinct_rows(real(name, n)) for n in (20_000, 80_000))
    assert large > 2 * small


def test_poker_repeats():
    assert same(tables.poker(700), tables.poker(700))


@pytest.mark.long
def test_a_run_in_a_child_prints_its_lines_under_a_prefix(capfd):
    values = in_child(
        "p",
        "benchmarks.one_run",
        "poker",
        "--records",
        "300",
        "--iterations",
        "1",
        "--threads",
        "1",
    )
    assert values["records"] == "300"
    assert values["iterations"] == "1"
    assert float(values["peak_memory_MiB"]) >= float(values["memory_before_MiB"])
    assert "p.features: 95\n" in capfd.readouterr().out


def test_exponent_is_the_slope():
    assert exponent([10, 20, 40], [3.0, 12.0, 48.0]) == pytest.approx(2)
