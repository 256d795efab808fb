"""Minimal local recoding by hierarchies, and the refinement attack that it invites.

Chhillar et al., Exposing Privacy Risks in Anonymizing Clinical Data, arXiv 2509.03350 (2025), on
the local recoding of ARX; Cohen, Attacks on Deidentification's Defenses (2022), calls the result a
downcoding. A *ladder* is the hierarchy of a column, int (steps, levels): the node of each level at
each step, from the levels themselves to one root.
"""

import itertools
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Recoded:
    """What is published: the state and the size of each class, beside the nodes of its rows.

    Attributes
    ----------
    group : int64 (n,)
        Class of each record.
    nodes : int64 (columns, classes)
        Node of each class, of its column's ladder at the class's step.
    steps : int64 (columns, classes)
    size : int64 (classes,)
        Below k: the rows left over, fully suppressed.
    """

    group: np.ndarray
    nodes: np.ndarray
    steps: np.ndarray
    size: np.ndarray


def double(levels):
    """The ladder of intervals of 1, 2, 4, .. neighbouring levels."""
    steps, width = [np.arange(levels)], 2
    while steps[-1].max() > 0:
        steps.append(np.arange(levels) // width)
        width *= 2
    return np.array(steps)


def suppress(levels):
    """The ladder of a column that is kept or suppressed."""
    return np.array([np.arange(levels), np.zeros(levels, dtype=np.int64)])


def list_states(ladders):
    """All states, a step of each column, by loss; ties by the steps.

    A column loses the mean share of its levels in a node, as ARX measures; a state loses their
    geometric mean. So a state loses more than those that are finer in a column and equal in others.
    """
    lost = [
        [float(np.mean(np.bincount(nodes)[nodes]) / len(nodes)) for nodes in ladder]
        for ladder in ladders
    ]
    states = itertools.product(*(range(len(ladder)) for ladder in ladders))

    def loss(state):
        return np.prod([1 + each[step] for each, step in zip(lost, state, strict=True)])

    return sorted(states, key=lambda state: (loss(state), state))


def recode(ladders, codes, k):
    """Publish the classes of k records and more of the cheapest state, of the rest the next ones.

    codes int (columns, n). States come by loss. A state that forms no class among the records left
    forms none later: fewer are left. So each state is looked at once.
    """
    records = codes.shape[1]
    group, left = np.full(records, -1), np.arange(records)
    steps = []
    for state in list_states(ladders):
        if len(left) < k:
            break
        key = np.zeros(len(left), dtype=np.int64)
        for ladder, step, code in zip(ladders, state, codes, strict=True):
            key = key * (int(ladder[step].max()) + 1) + ladder[step][code[left]]
        _, place, count = np.unique(key, return_inverse=True, return_counts=True)
        enough = count >= k
        number = len(steps) - 1 + np.cumsum(enough)
        group[left] = np.where(enough[place], number[place], -1)
        left = left[~enough[place]]
        steps += [state] * int(enough.sum())
    if len(left):
        group[left] = len(steps)
        steps.append(tuple(len(ladder) - 1 for ladder in ladders))
    first = np.unique(group, return_index=True)[1]
    taken = np.array(steps).T
    nodes = [
        [ladder[step, level] for step, level in zip(row, code[first], strict=True)]
        for ladder, row, code in zip(ladders, taken, codes, strict=True)
    ]
    return Recoded(group, np.array(nodes), taken, np.bincount(group))


def count_certain(ladders, recoded, k):
    """What is certain of the rows of each class, to someone who knows the program.

    Had k rows of a class agreed in a node one step below, they would have been published there.
    So each child of a class's node has at most k - 1 of its rows, and at least what the other
    children cannot take. Counts across classes could tell more; the paper's program uses them.

    Yields class, column, child nodes one step below, and how many rows each of them has at least,
    of all cells that show more than one level.
    """
    for number, size in enumerate(recoded.size):
        for column, ladder in enumerate(ladders):
            step, node = recoded.steps[column, number], recoded.nodes[column, number]
            below = ladder[step] == node
            if below.sum() == 1:
                continue
            children = np.unique(ladder[step - 1][below])
            least = max(0, size - (len(children) - 1) * (k - 1))
            # The rows left over are fewer than k: no program could have divided them.
            yield number, column, children, np.full(len(children), least if size >= k else 0)


def attack(ladders, recoded, k):
    """Masked cells, cells narrowed to a child of their node, and to one value.

    A cell counts as one of a group of identical rows: the attacker knows that so many of them have
    the narrower cell, and not which.
    """
    masked = narrowed = named = 0
    for number, column, children, least in count_certain(ladders, recoded, k):
        below = ladders[column][recoded.steps[column, number] - 1]
        single = np.bincount(below)[children] == 1
        masked += int(recoded.size[number])
        narrowed += int(least.sum())
        named += int(least[single].sum())
    return masked, narrowed, named
