"""Faults planted in what makers do with trees: the audit names each of them."""

import pytest

from anon_core.specs.hierarchies import Hierarchy
from anon_core.tables import cells, encoding
from anon_core.tables.trees import Tree
from tests.kinds.table import test_planted_faults as planted
from tests.kinds.table.test_planted_faults import Release, around, broken, in_codebook

LOW, HIGH = ("note-0", "note-1"), ("note-2", "note-3", "note-4")
TREE = Hierarchy({leaf: (node, leaf) for node, of in (("low", LOW), ("high", HIGH)) for leaf in of})
NOTE = planted.quasi("note", "categorical", hierarchy=TREE)

source = planted.source


@pytest.fixture
def release(tmp_path, source, monkeypatch):
    columns = tuple(NOTE if column.name == "note" else column for column in planted.COLUMNS)
    monkeypatch.setattr(planted, "COLUMNS", columns)
    return Release(tmp_path, source)


def test_trees_without_a_fault_pass(release):
    audit = release.make().audit()
    assert audit.passed, audit.sentence()
    assert {"low", "high"} <= set(audit.rows["note"])


def names_exchanged(patch):
    other = {"low": "high", "high": "low"}
    around(patch, cells, "node_text", lambda text, _: other[text])


def sets_in_place_of_nodes(patch):
    """The cells show what nodes stand for, as in a column without a tree."""
    in_codebook(patch, "note", tree=lambda _: None)


def node_left_out(patch):
    around(patch, encoding, "fit_tree", lambda tree, *_: Tree(tree.names[:1], *_ends(tree, 0)))


def _ends(tree, place):
    return (tree.first[place],), (tree.last[place],)


def nodes_of_other_leaves(patch):
    """The node below which the third leaf lies is another one, in cells and codebook alike."""

    def change(paths, *_):
        moved = [("high", path[-1]) if path[-1] == LOW[1] else path for path in paths]
        return sorted(moved)

    around(patch, encoding, "list_paths", change)


def leaves_not_in_order(patch):
    around(patch, encoding, "list_paths", lambda paths, *_: paths[::-1])


@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        (names_exchanged, "same table in every format"),
        (sets_in_place_of_nodes, "codebook of the source"),
        (node_left_out, "codebook of the source"),
        (nodes_of_other_leaves, "codebook of the source"),
        (leaves_not_in_order, "codebook of the source"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_a_fault_is_named(release, monkeypatch, fault, finding):
    fault(monkeypatch)
    assert finding in broken(release.make().audit())
