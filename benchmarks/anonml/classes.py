"""Rows of k-AnonML's Mondrian, whose classes are generalized by the hierarchies of ARX."""

import numpy as np

from benchmarks import data_file
from benchmarks.anonml.features import AGE, QUASI, WORDS
from benchmarks.baselines.mondrian import by_hierarchies

HIDDEN = 50.5  # the age that k-AnonML reads from a suppressed cell


class Hierarchy:
    """The groups of a column's values, from the root down to the value itself.

    Attributes
    ----------
    steps : dict of str to list of int
        The nodes of each value.
    names : list of str
        Of each node.
    sizes : int64 (nodes,)
        Values below each node; 0 of a value itself, as k-AnonML counts.
    """

    def __init__(self, lines):
        nodes = {}
        self.steps = {}
        for line in lines:
            up = line.split(";")[::-1]
            ends = range(1, len(up) + 1)
            self.steps[up[-1]] = [nodes.setdefault(tuple(up[:end]), len(nodes)) for end in ends]
        self.names = [each[-1] for each in nodes]
        self.sizes = np.zeros(len(nodes), dtype=np.int64)
        for steps in self.steps.values():
            self.sizes[steps[:-1]] += 1

    @classmethod
    def of(cls, name, files="adult/hierarchies-arx/adult_hierarchy_{}.csv"):
        """The hierarchy of a column, of Adult if nothing else is said."""
        return cls(data_file(files.format(name)).read_text(encoding="utf-8").splitlines())


class Generalized:
    """The rows of a frame, generalized by Mondrian."""

    def __init__(self, frame, k):
        self.trees = {name: Hierarchy.of(name) for name in QUASI}
        paths = [
            np.array([tree.steps[value] for value in frame[name]]).T
            for name, tree in self.trees.items()
        ]
        nodes = by_hierarchies(paths, [tree.sizes for tree in self.trees.values()], k)
        self.nodes = dict(zip(QUASI, nodes, strict=True))

    def names(self, column):
        """The text of each cell."""
        return np.array(self.trees[column].names)[self.nodes[column]]

    def ages(self):
        """The middle of each interval, as k-AnonML reads it, float64 (rows, 1)."""
        return np.array([[_middle(text)] for text in self.names(AGE)])

    def flags(self):
        """Their encoding: the age, then a column for each text of a cell but the first one."""
        parts = [self.ages()]
        for name in WORDS:
            texts = self.names(name)
            parts.append(texts[:, None] == np.unique(texts)[None, 1:])
        return np.hstack(parts).astype(np.float64)

    def members(self, of):
        """The age, then 1/s for each of the s values of `of` that a cell stands for."""
        parts = [self.ages()]
        for name, values in of.items():
            tree, nodes = self.trees[name], self.nodes[name]
            allowed = np.zeros((len(tree.names), len(values)))
            for place, value in enumerate(values):
                allowed[tree.steps[value], place] = 1
            parts.append((allowed / np.maximum(1, allowed.sum(axis=1))[:, None])[nodes])
        return np.hstack(parts)


def _middle(text):
    if text == "*":
        return HIDDEN
    ends = [float(part) for part in text.split("-")]
    return sum(ends) / len(ends)
