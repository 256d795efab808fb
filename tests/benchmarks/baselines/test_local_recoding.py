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


BINARY = [suppress(2)] * 3


@pytest.mark.long
@pytest.mark.parametrize(
    ("ladders", "people", "k", "more"),
    [
        (LADDERS, 5, 2, 1.16),
        (LADDERS, 7, 3, 1.06),
        ([suppress(2), suppress(3)], 7, 3, 1.51),
        (BINARY, 6, 2, 1.03),
        (BINARY, 7, 3, 1.07),
    ],
)
def test_the_attack_beside_all_sources(ladders, people, k, more):
    """It claims nothing that a source of the release contradicts; `more`: what it overlooks."""
    narrowed = exact = masked = 0
    for agreeing in list_sources(ladders, people, k).values():
        of = agreeing[0][1]
        for number, column, children, least in count_certain(ladders, of, k):
            below = ladders[column][of.steps[column, number] - 1]
            own = [codes[column, made.group == find(of, number, made)] for codes, made in agreeing]
            counts = np.array([np.bincount(below[each], minlength=4)[children] for each in own])
            assert (counts >= least).all()
            exact += int(counts.min(axis=0).sum())
        cells, narrow, named = attack(ladders, of, k)
        assert named <= narrow <= cells
        masked, narrowed = masked + cells, narrowed + narrow
    assert narrowed > masked / 3
    assert exact / narrowed == pytest.approx(more, abs=0.005)


def list_sources(ladders, people, k):
    """By what is published, the sources that lead to it and their classes."""
    records = itertools.product(*(range(ladder.shape[1]) for ladder in ladders))
    sources = defaultdict(list)
    for source in itertools.combinations_with_replacement(list(records), people):
        made = recode(ladders, np.array(source).T, k)
        published = sorted(
            zip(made.steps.T.tolist(), made.nodes.T.tolist(), made.size.tolist(), strict=True)
        )
        sources[repr(published)].append((np.array(source).T, made))
    return sources


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
