"""No published number depends on who sits where: it would tell something of the secret."""

import numpy as np
import pytest

from anon_core.anonymizers import Adaptive
from anon_core.measures.table.attackers.attacks import tightest_rows
from anon_core.measures.table.attackers.law import judge_law
from anon_core.measures.table.classes import Classes
from anon_core.measures.table.crowds import components_of, crowds
from anon_core.tables import encoding
from crowdcover.kinds.table.judge.attacks import build_attack_section
from tests import naive
from tests.support.auditing import released_of
from tests.support.masked import unpack

MOST = 60  # matchings of one table that are tried; all, if there are no more


def matchings(fit):
    """All perfect matchings, row of each record."""
    n = len(fit)

    def extend(seats):
        if len(seats) == n:
            yield tuple(seats)
            return
        for row in np.flatnonzero(fit[len(seats)]).tolist():
            if row not in seats:
                yield from extend([*seats, row])

    return list(extend([]))


def published(table, made, released, seat):
    """Crowds and attacks as a manifest states them."""
    classes = Classes.of(table.codes, released)
    components = components_of(released, classes, seat)
    found = crowds(table.codes, table.k, released, seat, classes, components)
    tightest, stated = tightest_rows(released, classes), None
    if made.holders is not None:
        stated = judge_law(table.codes, table.k, released, classes, tightest, made.holders, seat)
    against = released, classes, components, found, tightest, stated
    section = build_attack_section(*against, private_demand=True)
    return repr((section, found.compatible.tolist(), found.matchable.tolist()))


def check(seed, seats):
    """Every matching that the attacker could think of makes the same numbers."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 9))
    x = rng.integers(0, 2, (n, int(rng.integers(2, 5))))
    table = encoding.from_bits(x, np.full(n, int(rng.integers(2, 5))))
    made = Adaptive(weights="bits", seats=seats).anonymize(table)
    released = released_of(table, made.hidden)
    possible = matchings(naive.compatible(x, x, unpack(made.hidden, x.shape[1])))
    if len(possible) > MOST:
        possible = [possible[at] for at in rng.choice(len(possible), MOST, replace=False)]
    stated = {published(table, made, released, np.array(seat)) for seat in possible}
    assert len(possible) > 1
    assert len(stated) == 1


@pytest.mark.long
@pytest.mark.parametrize("seats", ["even", "matchable"])
@pytest.mark.parametrize("seed", range(10))
def test_numbers_exclude_no_matching(seed, seats):
    check(seed, seats)


@pytest.mark.slow
@pytest.mark.parametrize("seats", ["even", "matchable"])
def test_numbers_exclude_no_matching_of_100_tables(seats):
    for seed in range(10, 100):
        check(seed, seats)
