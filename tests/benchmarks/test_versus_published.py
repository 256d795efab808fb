"""Our rows as the published package reads its own: middles of intervals, stars for sets."""

import dataclasses

import numpy as np

from anon_core.anonymizers import Adaptive
from benchmarks.comparisons.versus_published import published
from tests.drawn import drawn


def test_rows_that_hide_nothing_are_the_records_and_others_hide_sets_as_stars():
    table = drawn(12, 1)
    labels = {a.name: np.array(a.labels, dtype=float) for a in table.codebook.attributes}
    exact = published(table, Adaptive(seats="even").anonymize(table))
    for (name, values), codes in zip(labels.items(), table.codes, strict=True):
        assert [float(value) for value in exact[name]] == values[codes].tolist()
    everyone = dataclasses.replace(table, k=np.full(12, 12, dtype=np.int32))
    hidden = published(everyone, Adaptive(seats="even").anonymize(everyone))
    assert set(hidden["city"]) == {"*"}
    assert set(hidden["age"]) == {(labels["age"].min() + labels["age"].max()) / 2}
