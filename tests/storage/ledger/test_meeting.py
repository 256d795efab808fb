"""Whether two lists of digests may meet, against all pairs."""

from hypothesis import given
from hypothesis import strategies as st

from crowdcover.storage.ledger.digests import People
from crowdcover.storage.ledger.meeting import may_meet, sort_words

DIGEST = st.integers(0, 9).map(lambda number: bytes([number]) * 16)
PEOPLE = st.lists(DIGEST, max_size=4).map(
    lambda each: People(len(each), {"record": b"".join(each)}, frozenset())
)


def listed(people):
    return set(people.each("record"))


@given(PEOPLE, st.lists(PEOPLE, max_size=3))
def test_who_may_meet_is_who_shares_a_digest(ours, others):
    theirs = set().union(*map(listed, others))
    assert may_meet(sort_words(ours), others) == bool(listed(ours) & theirs)


@given(PEOPLE)
def test_nobody_meets_nobody(people):
    assert not may_meet(sort_words(people), [])
    assert not may_meet(sort_words(People(0, {}, frozenset())), [people])
