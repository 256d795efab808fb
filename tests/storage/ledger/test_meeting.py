"""Whether two lists of digests may meet, against all pairs."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from crowdcover.storage.ledger.digests import People
from crowdcover.storage.ledger.meeting import cut_parts, may_meet, sort_words

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


@given(st.lists(st.integers(0, 2_000_000), max_size=200))
def test_a_part_has_few_people_or_one_run(numbers):
    records = {str(run): number for run, number in enumerate(numbers)}
    parts = cut_parts(records)
    assert [run for part in parts for run in part] == list(records)
    for part in parts:
        assert len(part) == 1 or sum(records[run] for run in part) <= 1_000_000
    for one, two in pairwise(parts):  # none is cut too early
        assert len(one) == 64 or sum(records[run] for run in [*one, two[0]]) > 1_000_000
