"""Classes of little loss: the goldens of Liang and Samavi, and the optimum by brute force."""

import itertools

import numpy as np
import pytest

from anon_core.anonymizers import Optimal
from anon_core.anonymizers.loss_kernels import LevelCells
from anon_core.anonymizers.optimal import optimal, ordered
from anon_core.anonymizers.optimal.carry import Split, solve_parts
from anon_core.anonymizers.optimal.columns import group_losses
from anon_core.anonymizers.optimal.greedy_kernels import Runs, grow_greedy_groups
from anon_core.anonymizers.optimal.partition import PROOF, least_loss
from anon_core.errors import InputError, LimitError
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.loss import WHOLE_CELL_LOSS, loss_table
from tests.support.fars import fars, made

IN_ORDER = [12, 1, 11, 14, 7, 10, 16, 19, 13, 6, 9, 5, 8, 2, 15, 17, 0, 4, 18, 3]
BEST = "0,2,15,17 1,11,12 3,4,18 5,6,8,9 7,10,16 13,14,19"
BEST_BY_WEIGHT = "1,14,15 2,3,13,18 4,6,9 5,7,11 0,8,10,16 12,17,19"
GREEDY = "1,11,12 7,10,14 5,9,16 6,13,19 0,8,17 2,3,15"


def classes(text):
    return {frozenset(map(int, group.split(","))) for group in text.split()}


def test_golden_the_initial_order_and_its_loss():
    assert ordered.by_variance(fars(), "range").tolist() == IN_ORDER
    assert made(fars(), method="initial")[1] == pytest.approx(31.774, abs=5e-4)


@pytest.mark.parametrize("method", ["exact", "split-and-carry"])
def test_golden_the_optimum(method):
    found, total = made(fars(), method=method)
    assert found == classes(BEST)
    assert total == pytest.approx(19.266129, abs=1e-6)


def test_golden_the_optimum_by_weight():
    """Weights sum to 1 there; here the heaviest column counts 1."""
    found, total = made(fars((0.8, 0.05, 0.1, 0.05)), method="exact")
    assert found == classes(BEST_BY_WEIGHT)
    assert total * 0.8 == pytest.approx(4.114516, abs=1e-6)


def test_golden_greedy_search():
    found, total = made(fars(), method="greedy", leftovers="before")
    assert total == pytest.approx(28.508, abs=5e-4)
    assert {group - {4, 18} for group in found} == classes(GREEDY)
    assert frozenset({7, 10, 14, 4}) in found
    assert frozenset({6, 13, 19, 18}) in found
    assert made(fars(), method="greedy")[1] == pytest.approx(27.008, abs=5e-4)


def test_golden_three_of_seven_and_the_other_four():
    """Table 1b: Age, Sex and Zipcode of seven people."""
    columns = {
        "age": np.array([37, 35, 36, 61, 63, 66, 63], dtype=np.float64),
        "sex": np.array([0, 0, 0, 1, 1, 1, 1], dtype=np.float64),
        "zipcode": np.array([22071, 22098, 23061, 55107, 55099, 55324, 55229], dtype=np.float64),
    }
    specs = [
        ColumnSpec(name=name, kind="numeric", encoding="ordinal", bins=None) for name in columns
    ]
    table = encoding.encode(encoding.fit(specs, columns, 1, None), columns, np.full(7, 3, np.int32))
    found, _ = made(table, method="exact")
    assert found == classes("0,1,2 3,4,5,6")
    spans = {tuple((values[list(g)].min(), values[list(g)].max()) for values in columns.values())
             for g in found}  # fmt: skip
    assert spans == {
        ((35, 37), (0, 0), (22071, 23061)),
        ((61, 66), (1, 1), (55099, 55324)),
    }


def test_golden_the_chain_of_split_and_carry():
    """Example 1: the first part carries {14, 7, 10, 16, 19, 13}, the second is the last."""
    table = fars(rows=IN_ORDER)
    first, second = solve_parts(table, loss_table(table.codebook, "range"), Split(sets=3))
    assert [IN_ORDER[v] for v in first.records] == IN_ORDER[:9]
    assert {IN_ORDER[v] for v in first.carried} == {14, 7, 10, 16, 19, 13}
    assert [{IN_ORDER[v] for v in group} for group in first.groups] == [{12, 1, 11}]
    assert [IN_ORDER[v] for v in second.records] == IN_ORDER[3:]
    assert not second.carried


def chain(n, k, split, seed=0):
    table = random_table(n, k, seed)
    table = table.at(ordered.by_variance(table, "range"))
    return list(solve_parts(table, loss_table(table.codebook, "range"), split))


@pytest.mark.parametrize(("sets", "most", "parts"), [(3, 24, 11), (4, 27, 9), (5, 30, 7)])
def test_golden_the_sizes_of_parts(sets, most, parts):
    """Table 8: the bounds of Lemma 2, and how many parts there are: ceil(floor(n / k) / S)."""
    assert most == 3 * (2 * 3 - 1 + sets)
    sizes = [len(part.records) for part in chain(101, 3, Split(sets=sets))]
    assert len(sizes) == parts
    assert sizes[0] == 3 * sets
    assert max(sizes[:-1]) <= most


@pytest.mark.long
@pytest.mark.parametrize("boundary", [1, 2, 5, 9])
@pytest.mark.parametrize("k", [3, np.resize([2, 2, 3], 50)])
def test_a_part_carries_the_classes_of_its_last_records(boundary, k):
    parts = chain(50, k, Split(sets=3, boundary=boundary))
    for part in parts[:-1]:
        assert set(part.records[-boundary:]) <= set(part.carried)
        assert not set(part.records[-boundary:]) & {v for group in part.groups for v in group}
        assert len(part.records) <= boundary * (2 * 3 - 1) + 9
    assert not parts[-1].carried
    assert sorted(v for part in parts for group in part.groups for v in group) == list(range(50))


@pytest.mark.long
@pytest.mark.parametrize(("size", "accept"), [(12, 2), (12, 1), (18, 2)])
def test_bubble_carry_keeps_the_classes_that_lose_least(size, accept):
    """Section 6: each part has P records, and A classes of least loss stay."""
    table = random_table(60, 3)
    table = table.at(ordered.by_variance(table, "range"))
    loss = loss_table(table.codebook, "range")
    parts = chain(60, 3, Split(part=size, accept=accept))
    for part in parts[:-1]:
        assert len(part.records) == size
        assert len(part.groups) == accept
        piece = table.at(np.array(part.records))
        best, _ = least_loss(piece, loss, ordered.build_initial_groups(piece), PROOF)
        assert group_losses(table, loss, part.groups).sum() <= sum(
            sorted(group_losses(piece, loss, best))[:accept]
        )
    assert size <= len(parts[-1].records) + accept * 5
    assert sorted(v for part in parts for group in part.groups for v in group) == list(range(60))


def test_golden_the_parts_of_split_and_carry():
    """Tables 5 and 6: what the first part solves, and the loss of the second."""
    first = fars(rows=IN_ORDER[:9])
    loss = loss_table(first.codebook, "range")
    best, _ = least_loss(first, loss, ordered.build_initial_groups(first), PROOF)
    named = {frozenset(IN_ORDER[v] for v in group) for group in best}
    assert named == classes("1,11,12 13,14,19 7,10,16")
    assert group_losses(first, loss, best).sum() / WHOLE_CELL_LOSS == pytest.approx(
        5.298387, abs=1e-6
    )
    second = fars(rows=IN_ORDER[3:])
    best, _ = least_loss(second, loss, ordered.build_initial_groups(second), PROOF)
    assert group_losses(second, loss, best).sum() / WHOLE_CELL_LOSS == pytest.approx(
        17.814516, abs=1e-6
    )
    assert len(second.k) <= 3 * (2 * 3 - 1 + 3)  # Lemma 2


def partitions(records):
    """All partitions of a list."""
    if not records:
        yield []
        return
    first, rest = records[0], records[1:]
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [v for v in rest if v not in others]
            for more in partitions(left):
                yield [[first, *others], *more]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("ages", "cities"), [(20, 3), (3, 2)])
def test_exact_is_the_least_of_all_partitions(seed, ages, cities):
    """Also of records of which many are equal."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    columns = {
        "age": rng.integers(0, ages, n).astype(float),
        "city": np.array([str(v) for v in rng.integers(0, cities, n)], dtype=object),
    }
    specs = [
        ColumnSpec(name="age", kind="numeric", encoding="ordinal", bins=None),
        ColumnSpec(name="city", kind="categorical"),
    ]
    k = rng.integers(1, 4, n).astype(np.int32)
    table = encoding.encode(encoding.fit(specs, columns, 1, None), columns, k)
    for name in ("range", "binary", "rank"):
        loss = loss_table(table.codebook, name)
        found, proved = least_loss(table, loss, ordered.build_initial_groups(table), PROOF)
        assert proved
        assert sorted(v for group in found for v in group) == list(range(n))
        assert all(len(group) >= k[group].max() for group in found)
        least = min(
            group_losses(table, loss, groups).sum()
            for groups in partitions(list(range(n)))
            if all(len(group) >= k[group].max() for group in groups)
        )
        assert group_losses(table, loss, found).sum() == least


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", ["range", "binary", "rank"])
def test_greedy_search_is_its_definition(seed, name):
    """Equal records, demands of their own and columns of any order."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    table = random_table(n, rng.integers(1, min(n, 5) + 1, n), seed)
    table = table.at(rng.integers(0, max(1, n // 2), n))  # some records several times
    if rng.integers(2):
        table = table.at(ordered.by_variance(table, "range"))
    loss = loss_table(table.codebook, name)
    group = np.full(n, -1)
    cells = LevelCells.of(table, loss)
    grow_greedy_groups(table.k.astype(np.int64), cells, Runs.of(cells), group)
    left, number = list(range(n)), 0
    while left:
        members = [left.pop(0)]
        while left and len(members) < table.k[members].max():
            lost = [group_losses(table, loss, [[*members, v]])[0] for v in left]
            members.append(left.pop(lost.index(min(lost))))
        enough = len(members) >= table.k[members].max()
        assert (group[members] == (number if enough else -1)).all()
        number += 1


def random_table(n, k, seed=0):
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.integers(16, 90, n).astype(float),
        "city": np.array([str(v) for v in rng.integers(0, 6, n)], dtype=object),
        "sex": np.array([str(v) for v in rng.integers(0, 2, n)], dtype=object),
    }
    specs = [
        ColumnSpec(name="age", kind="numeric", encoding="ordinal", bins=None),
        ColumnSpec(name="city", kind="categorical"),
        ColumnSpec(name="sex", kind="binary"),
    ]
    k = np.broadcast_to(np.array(k, dtype=np.int32), n).copy()
    return encoding.encode(encoding.fit(specs, columns, 1, None), columns, k)


@pytest.mark.parametrize(
    "how",
    [
        {"method": "initial"},
        {"method": "greedy"},
        {"method": "split-and-carry"},
        {"method": "split-and-carry", "boundary": 1},
        {"method": "split-and-carry", "part": 10, "accept": 1},
    ],
)
@pytest.mark.parametrize("k", [3, np.resize([2, 2, 3, 5], 25)])
def test_classes_hold_the_greatest_k_of_their_members(how, k):
    """And within a class each record holds at most 1/k of a row, whoever stands where."""
    table = random_table(25, k)
    masked = Optimal(**how).anonymize(table)
    rows = [(tuple(h), tuple(b & ~h)) for h, b in zip(masked.hidden, table.bits, strict=True)]
    for row, record in zip(rows, range(25), strict=True):
        assert rows.count(row) >= table.k[record]
    shares = masked.holders.shape[1]
    for row, holders in enumerate(masked.holders.tolist()):
        assert all(rows[holder] == rows[row] for holder in holders)
        assert all(holders.count(v) * table.k[v] <= shares for v in holders)
    assert (np.bincount(masked.holders.ravel()) == shares).all()


def test_the_methods_lose_less_in_their_order():
    """As in the paper's Fig. 2: the optimum, then Split & Carry, then the other two."""
    lost = dict.fromkeys(("exact", "split-and-carry", "greedy", "initial"), 0.0)
    for seed in range(3):
        table = random_table(18, 3, seed)
        for method in lost:
            lost[method] += made(table, method=method)[1]
    assert lost["exact"] <= lost["split-and-carry"] < min(lost["greedy"], lost["initial"])


def test_auto_follows_the_size_by_k(monkeypatch):
    """Fewer than 6 columns, small k, and not too many records: Split & Carry."""
    chosen = Optimal()._choose_method
    assert chosen(random_table(200, 7)) == "split-and-carry"
    assert chosen(random_table(201, 7)) == "greedy"
    assert chosen(random_table(50, 8)) == "greedy"
    monkeypatch.setattr(optimal, "FEW_ATTRIBUTES", 3)
    assert chosen(random_table(50, 3)) == "greedy"


@pytest.mark.slow
@pytest.mark.parametrize("k", [3, 5])
def test_split_and_carry_loses_less_than_greedy_search(k):
    """As in the paper's Figs. 5 and 6, and within the bound of Lemma 2."""
    table = random_table(600, k)
    table = table.at(ordered.by_variance(table, "range"))
    loss = loss_table(table.codebook, "range")
    parts = chain(600, k, Split())
    assert max(len(part.records) for part in parts[:-1]) <= k * (2 * k - 1 + 3)
    groups = [group for part in parts for group in part.groups]
    greedy = ordered.build_greedy_groups(table, loss, sequential=True)
    assert group_losses(table, loss, groups).sum() < group_losses(table, loss, greedy).sum()


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "best"},
        {"loss": "ranks"},
        {"sets": 1},
        {"leftovers": "after"},
        {"boundary": -1},
        {"part": -1},
        {"accept": 2},
        {"boundary": 2, "part": 12, "accept": 2},
    ],
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Optimal(**wrong)


@pytest.mark.parametrize(
    ("wrong", "need"),
    [({"boundary": 10}, "at most sets times"), ({"part": 8, "accept": 2}, "at least 9")],
)
def test_parts_without_room_are_refused(wrong, need):
    with pytest.raises(InputError, match=need):
        Optimal(**wrong).admit(random_table(20, 3))


def test_a_proof_beyond_its_limits_is_refused(monkeypatch):
    with pytest.raises(LimitError, match="at most 200 records, not of 201"):
        Optimal(method="exact").admit(random_table(201, 3))
    monkeypatch.setattr(optimal, "PROOF", PROOF._replace(groups=100))
    with pytest.raises(LimitError, match="is not proved within 100 groups"):
        Optimal(method="exact").anonymize(random_table(30, 3))


def test_levels_of_k_without_a_common_multiple_are_refused():
    with pytest.raises(LimitError, match="least common multiple"):
        Optimal().admit(random_table(41, np.resize([29, 31, 37], 41)))
