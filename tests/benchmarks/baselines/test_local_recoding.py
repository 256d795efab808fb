"""The local recoding is minimal, and what the attack says of it is true of every source."""

import itertools
from collections import defaultdict

import numpy as np
import pytest

from benchmarks.baselines.local_recoding import (
    attack,
    count_certain,
    double,
    list_states,
    recode,
    suppress,
)

FOUR = np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]])
LADDERS = [suppress(2), FOUR]


def node_of(ladders, state, record):
    return tuple(ladder[step][x] for ladder, step, x in zip(ladders, state, record, strict=True))


def by_definition(ladders, codes, k):
    """Classes as (state, nodes, records): the cheapest state that forms a class, repeatedly."""
    left, found = [tuple(record) for record in codes.T.tolist()], []
    while True:
        for state in list_states(ladders):
            groups = defaultdict(list)
            for record in left:
                groups[node_of(ladders, state, record)].append(record)
            large = {node: own for node, own in groups.items() if len(own) >= k}
            if large:
                break
        else:
            return found + ([("left over", None, sorted(left))] if left else [])
        found += [(state, node, sorted(own)) for node, own in large.items()]
        left = [record for node, own in groups.items() if node not in large for record in own]


def classes_of(ladders, codes, recoded, k):
    for number, size in enumerate(recoded.size):
        own = sorted(map(tuple, codes[:, recoded.group == number].T.tolist()))
        state, node = tuple(recoded.steps[:, number].tolist()), tuple(recoded.nodes[:, number])
        yield (state, node, own) if size >= k else ("left over", None, own)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_against_the_definition(k):
    generator = np.random.default_rng(k)
    for _ in range(30):
        codes = np.stack([generator.integers(0, 2, 11), generator.integers(0, 4, 11)])
        made = classes_of(LADDERS, codes, recode(LADDERS, codes, k), k)
        assert sorted(made, key=repr) == sorted(by_definition(LADDERS, codes, k), key=repr)


def test_finer_states_come_first():
    place = {state: at for at, state in enumerate(list_states([*LADDERS, double(5)]))}
    for state, at in place.items():
        for column, step in enumerate(state):
            if step:
                assert place[(*state[:column], step - 1, *state[column + 1 :])] < at


def test_ladders():
    assert double(5).tolist() == [[0, 1, 2, 3, 4], [0, 0, 1, 1, 2], [0, 0, 0, 0, 1], [0] * 5]
    assert double(1).tolist() == [[0]]
    assert suppress(3).tolist() == [[0, 1, 2], [0, 0, 0]]


@pytest.mark.parametrize(("people", "k"), [(5, 2), (7, 3)])
def test_the_attack_is_right_about_every_source(people, k):
    """All sources of one release have so many rows of each child; of some cells none has more."""
    records = list(itertools.product(range(2), range(4)))
    sources = defaultdict(list)
    for source in itertools.combinations_with_replacement(records, people):
        codes = np.array(source).T
        made = recode(LADDERS, codes, k)
        published = sorted(
            zip(map(tuple, made.steps.T), map(tuple, made.nodes.T), made.size, strict=True)
        )
        sources[tuple(published)].append((codes, made))
    tight = masked = narrowed = 0
    for agreeing in sources.values():
        for number, column, children, least in count_certain(LADDERS, agreeing[0][1], k):
            of = agreeing[0][1]
            below = LADDERS[column][of.steps[column, number] - 1]
            counts = np.array(
                [
                    np.bincount(below[codes[column, made.group == same]], minlength=4)[children]
                    for codes, made in agreeing
                    for same in [find(of, number, made)]
                ]
            )
            assert (counts >= least).all()
            tight += int((counts.min(axis=0) == least).sum())
        cells, narrow, named = attack(LADDERS, agreeing[0][1], k)
        assert named <= narrow <= cells
        masked, narrowed = masked + cells, narrowed + narrow
    assert tight > 0
    assert narrowed > masked / 4


def find(of, number, made):
    """The class of another source's release that is published as this one."""
    want = (of.steps[:, number].tolist(), of.nodes[:, number].tolist(), of.size[number])
    return next(
        same
        for same in range(len(made.size))
        if (made.steps[:, same].tolist(), made.nodes[:, same].tolist(), made.size[same]) == want
    )


def test_two_rows_of_two_people_are_written_out():
    """k = 2, one column of two values: had both agreed, nothing would be hidden."""
    ladders = [suppress(2)]
    made = recode(ladders, np.array([[0, 1]]), 2)
    assert made.size.tolist() == [2]
    assert attack(ladders, made, 2) == (2, 2, 2)
    assert attack(ladders, recode(ladders, np.array([[0, 0]]), 2), 2) == (0, 0, 0)


def test_rows_left_over_tell_nothing():
    ladders = [suppress(2)]
    made = recode(ladders, np.array([[0, 0, 0, 1]]), 3)
    assert sorted(made.size.tolist()) == [1, 3]
    assert attack(ladders, made, 3) == (1, 0, 0)
