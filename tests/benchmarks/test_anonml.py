"""Rows for the classifiers of k-AnonML: the split, Mondrian by hierarchies, cells as numbers."""

import numpy as np
import polars as pl
import pytest

import crowdcover
from benchmarks.anonml import features
from benchmarks.anonml.classes import Hierarchy
from benchmarks.baselines.mondrian import by_hierarchies
from tests.crowdcover.reader.folders import attribute, folder

PLACES = Hierarchy(["Ulm;south;*", "Bonn;west;*", "Essen;west;*"])
SEXES = Hierarchy(["f;*", "m;*"])


def nodes(tree, values):
    return np.array([tree.steps[value] for value in values]).T


def texts(k, places, sexes):
    paths = [nodes(PLACES, places), nodes(SEXES, sexes)]
    made = by_hierarchies(paths, [PLACES.sizes, SEXES.sizes], k)
    return [
        np.array(tree.names)[row].tolist() for tree, row in zip((PLACES, SEXES), made, strict=True)
    ]


def test_a_hierarchy_counts_the_values_below_each_node():
    sizes = dict(zip(PLACES.names, PLACES.sizes.tolist(), strict=True))
    assert sizes == {"*": 3, "south": 1, "Ulm": 0, "west": 2, "Bonn": 0, "Essen": 0}


def test_with_k_of_1_every_cell_is_its_value():
    places, sexes = ["Ulm", "Bonn", "Essen", "Bonn"], ["f", "m", "m", "m"]
    assert texts(1, places, sexes) == [places, sexes]


def test_a_node_is_split_only_if_each_part_with_records_has_k():
    places = ["Ulm", "Ulm", "Bonn", "Bonn", "Bonn", "Essen"]
    made = texts(2, places, ["f", "m", "f", "f", "m", "m"])
    # Regions, for a tie goes to the first column; then sexes. One f and one m stay together in Ulm,
    # Bonn and Essen among the m of the west.
    assert made == [["Ulm", "Ulm", "Bonn", "Bonn", "west", "west"], ["*", "*", "f", "f", "m", "m"]]


@pytest.mark.parametrize("k", [1, 3, 7])
def test_classes_have_k_records_and_nodes_that_hold_them(k):
    generator = np.random.default_rng(k)
    places = generator.choice(["Ulm", "Bonn", "Essen"], 60).tolist()
    sexes = generator.choice(["f", "m"], 60).tolist()
    paths = [nodes(PLACES, places), nodes(SEXES, sexes)]
    made = by_hierarchies(paths, [PLACES.sizes, SEXES.sizes], k)
    assert np.unique(made, axis=1, return_counts=True)[1].min() >= k
    for path, row in zip(paths, made, strict=True):
        assert (path == row).any(axis=0).all()


def test_the_split_has_each_row_once_and_three_tenths_to_test():
    train, test = features.split(11)
    assert (len(train), len(test)) == (7, 4)
    assert sorted([*train, *test]) == list(range(11))


def test_a_row_of_the_source_is_its_age_and_a_flag_for_each_value():
    frame = pl.DataFrame({"age": ["30", "41"], **{name: ["b", "a"] for name in features.WORDS}})
    rows = features.exact(frame, features.levels(frame))
    assert rows[:, :3].tolist() == [[30, 0, 1], [41, 1, 0]]
    assert (rows[:, 1:].sum(axis=1) == len(features.WORDS)).all()


@pytest.fixture
def release(tmp_path):
    ages = attribute("age", "numeric", ["30", "40", "60"])
    words = [attribute(name, labels=["a", "b"]) for name in features.WORDS]
    rows = {"age": ["30", "40..60"], **{name: ["b", "a|b"] for name in features.WORDS}}
    rows |= {"salary-class": [">50K", "<=50K"]}
    return crowdcover.read(folder(tmp_path / "r", [ages, *words], rows), "uniform")


def test_even_weights_of_a_release_are_the_members_of_the_reader(release):
    of = {name: ["a", "b"] for name in features.WORDS}
    rows = features.read(release, of)
    assert rows[:, 0] == pytest.approx([30, 50])
    assert rows[:, 1:] == pytest.approx(release.members(*features.WORDS).to_numpy())


def test_labels_that_are_not_masked_are_as_they_stand(release):
    assert features.labels(release).tolist() == [1, 0]
