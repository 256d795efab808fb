"""Classes of little loss: the goldens of Liang and Samavi, and the optimum by brute force."""

import itertools

import numpy as np
import pytest

from anon_core.anonymizers import Optimal
from anon_core.anonymizers.optimal import optimal, ordered
from anon_core.anonymizers.optimal.partition import PROOF, group_losses, least_loss
from anon_core.errors import InputError, LimitError
from anon_core.specs.columns import ColumnSpec
from anon_core.tables import encoding
from anon_core.tables.loss import WHOLE, loss_table

FARS = (  # Table 2a: AGE, SEX, INJ_SEV, DRINKING
    (64, 2, 4, 0), (29, 1, 0, 0), (42, 2, 0, 0), (41, 2, 4, 1), (53, 1, 2, 1), (59, 1, 4, 0),
    (49, 1, 4, 0), (59, 1, 2, 0), (80, 1, 4, 0), (50, 1, 4, 0), (64, 1, 3, 0), (55, 1, 0, 0),
    (25, 1, 0, 0), (42, 1, 4, 0), (33, 1, 2, 0), (31, 2, 2, 0), (68, 1, 3, 0), (20, 2, 4, 0),
    (40, 1, 4, 1), (18, 1, 4, 0),
)  # fmt: skip
IN_ORDER = [12, 1, 11, 14, 7, 10, 16, 19, 13, 6, 9, 5, 8, 2, 15, 17, 0, 4, 18, 3]
BEST = "0,2,15,17 1,11,12 3,4,18 5,6,8,9 7,10,16 13,14,19"
BEST_BY_WEIGHT = "1,14,15 2,3,13,18 4,6,9 5,7,11 0,8,10,16 12,17,19"
GREEDY = "1,11,12 7,10,14 5,9,16 6,13,19 0,8,17 2,3,15"


def fars(weights=(1, 1, 1, 1), k=3, rows=range(20)):
    names = ("AGE", "SEX", "INJ_SEV", "DRINKING")
    values = np.array(FARS, dtype=np.float64)
    columns = {name: values[:, c] for c, name in enumerate(names)}
    specs = [
        ColumnSpec(name=name, kind="numeric", encoding="ordinal", bins=None, weight=weight)
        for name, weight in zip(names, weights, strict=True)
    ]
    book = encoding.fit(specs, columns, 1, None)
    table = encoding.encode(book, columns, np.full(20, k, dtype=np.int32))
    return table.at(np.array(rows))


def classes(text):
    return {frozenset(map(int, group.split(","))) for group in text.split()}


def made(table, **settings):
    """The classes of records with equal rows, and what they lose in all, as the paper counts."""
    place = ordered.by_variance(table, "range")
    loss = loss_table(table.codebook, "range")
    groups = Optimal(**settings)._groups(table.at(place), loss)
    total = group_losses(table.at(place), loss, groups).sum() / WHOLE
    return {frozenset(place[group].tolist()) for group in groups}, total


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


def test_golden_the_parts_of_split_and_carry():
    """Tables 5 and 6: what the first part solves and carries, and the loss of the second."""
    first = fars(rows=IN_ORDER[:9])
    loss = loss_table(first.codebook, "range")
    best, _ = least_loss(first, loss, ordered.consecutive(first), PROOF)
    named = {frozenset(IN_ORDER[v] for v in group) for group in best}
    assert named == classes("1,11,12 13,14,19 7,10,16")
    assert group_losses(first, loss, best).sum() / WHOLE == pytest.approx(5.298387, abs=1e-6)
    second = fars(rows=IN_ORDER[3:])
    best, _ = least_loss(second, loss, ordered.consecutive(second), PROOF)
    assert group_losses(second, loss, best).sum() / WHOLE == pytest.approx(17.814516, abs=1e-6)
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


@pytest.mark.parametrize("seed", range(12))
def test_exact_is_the_least_of_all_partitions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    columns = {
        "age": rng.integers(0, 20, n).astype(float),
        "city": np.array([str(v) for v in rng.integers(0, 3, n)], dtype=object),
    }
    specs = [
        ColumnSpec(name="age", kind="numeric", encoding="ordinal", bins=None),
        ColumnSpec(name="city", kind="categorical"),
    ]
    k = rng.integers(1, 4, n).astype(np.int32)
    table = encoding.encode(encoding.fit(specs, columns, 1, None), columns, k)
    for name in ("range", "binary", "rank"):
        loss = loss_table(table.codebook, name)
        found, proved = least_loss(table, loss, ordered.consecutive(table), PROOF)
        assert proved
        assert sorted(v for group in found for v in group) == list(range(n))
        assert all(len(group) >= k[group].max() for group in found)
        least = min(
            group_losses(table, loss, groups).sum()
            for groups in partitions(list(range(n)))
            if all(len(group) >= k[group].max() for group in groups)
        )
        assert group_losses(table, loss, found).sum() == least


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


@pytest.mark.parametrize("method", ["initial", "greedy", "split-and-carry"])
@pytest.mark.parametrize("k", [3, np.resize([2, 2, 3, 5], 25)])
def test_classes_hold_the_greatest_k_of_their_members(method, k):
    """And within a class each record holds at most 1/k of a row, whoever stands where."""
    table = random_table(25, k)
    masked = Optimal(method=method).anonymize(table)
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


@pytest.mark.parametrize(
    "wrong", [{"method": "best"}, {"loss": "ranks"}, {"sets": 1}, {"leftovers": "after"}]
)
def test_wrong_settings_are_refused(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Optimal(**wrong)


def test_a_proof_beyond_its_limits_is_refused(monkeypatch):
    with pytest.raises(LimitError, match="at most 200 records, not of 201"):
        Optimal(method="exact").admit(random_table(201, 3))
    monkeypatch.setattr(optimal, "PROOF", PROOF._replace(groups=100))
    with pytest.raises(LimitError, match="is not proved within 100 groups"):
        Optimal(method="exact").anonymize(random_table(30, 3))


def test_levels_of_k_without_a_common_multiple_are_refused():
    with pytest.raises(LimitError, match="least common multiple"):
        Optimal().admit(random_table(41, np.resize([29, 31, 37], 41)))
