"""Drawn tables in two to five parts, by the auditor and by the naive one."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from anon_core.anonymizers import Adaptive, Freeform, KMember, LocalSearch, Optimal
from anon_core.anonymizers.in_parts import cut as cutting
from anon_core.anonymizers.in_parts.cut import Cut
from anon_core.engines import local
from anon_core.errors import InfeasibleError, LimitError
from anon_core.measures.table.crowds import crowds
from anon_core.seating.matching import random_matching
from tests import naive
from tests.strategies import tables
from tests.support.auditing import released_of, stated
from tests.support.masked import unpack
from tests.support.seats import few_levels, owned, words

DRAWN = 200
OF_PEOPLE = LocalSearch, Adaptive  # the others count rows
METHODS = *OF_PEOPLE, Freeform, KMember, Optimal


@st.composite
def in_parts(draw):
    """A table of one k, an own k each, or people; a method; its cut into 2 to 5 parts."""
    table = draw(st.one_of(tables(), few_levels(), owned()))
    method = draw(st.sampled_from(METHODS if table.person is None else OF_PEOPLE))
    part = draw(st.integers(1, max(1, table.records // 2)))
    even = {"seats": "even"} if method in OF_PEOPLE and draw(st.booleans()) else {}
    if table.person is not None:
        even = {"seats": "even"}
    return table, method(part=part, **even), Cut.of(table, None, part)


@pytest.fixture
def small_crowds(monkeypatch):
    """Let tables of 14 records have parts."""
    monkeypatch.setattr(cutting, "CROWDS", 1)


@pytest.mark.slow
@pytest.mark.usefixtures("small_crowds")
@settings(max_examples=DRAWN, deadline=None, suppress_health_check=list(HealthCheck))
@given(in_parts(), st.integers(0, 2**32 - 1))
def test_both_auditors_agree(drawn, seed):
    table, method, cut = drawn
    assume(2 <= len(cut.places) <= 5)
    try:
        method.admit(table)
        made = local.run(method, table)
    except (InfeasibleError, LimitError):
        assume(False)
    seat = random_matching(made, words(seed))
    released, who = released_of(table, made.hidden), table.person
    x, stars = (unpack(bits, table.codebook.features) for bits in (table.bits, made.hidden))
    fit = naive.compatible(x, x, stars)
    own = np.arange(table.records) if who is None else who
    sits = np.empty_like(own)
    sits[seat] = own
    found = crowds(table.codes, table.k, released, seat, person=who)
    possible = naive.matchable(fit)
    assert found.compatible.tolist() == fit.sum(axis=1).tolist()
    assert found.matchable.tolist() == possible.sum(axis=1).tolist()
    assert found.below_k == found.matchable_below_k == 0
    assert (naive.people(possible, sits) >= table.k).all()
    for places in cut.places:  # an attacker may know the cut
        inside = naive.matchable(fit[np.ix_(places, places)])
        assert (naive.people(inside, own[places]) >= table.k[places]).all()
    if made.holders is not None:
        law = stated(table.codes, table.k, released, made.holders, seat, who)
        chance = naive.shares(table, made.holders) / made.holders.shape[1]
        assert law.holds
        assert law.likeliest[law.kind].tolist() == pytest.approx(chance.max(axis=1).tolist())
        alike = (table.codes[:, :, None] == table.codes[:, None]).all(axis=0)
        for places in cut.places:
            # Equal records have their chances in common; to others, knowing the cut tells nothing.
            outside = ~alike[:, places].any(axis=1)
            assert not chance[np.ix_(outside, places)].any()
